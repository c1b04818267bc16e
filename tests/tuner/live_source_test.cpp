// SPDX-License-Identifier: MIT
// Measuring in this process: what is admitted, what is refused, what is kept.
#define BOOST_TEST_MODULE live_source
#include "tuner/live_source.h"

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "tests/support/fake_device.h"
#include "tuner/worker_faults.h"

namespace mla::tuner {
namespace {

// 64 + 2 rows of output: more than are checked against the reference.
const Problem kProblem = parse_problem("batch=11 nhead=6 seq_len=20");
const KernelConfig kDefault = parse_config("splits=4");
const KernelConfig kOther = parse_config("splits=2");

LiveSource faulty(const std::string& rules) {
  return LiveSource(add_faults(std::make_unique<test::FakeDevice>(), rules));
}

OutcomeKind admit_other(const std::string& rules) {
  LiveSource source = faulty(rules);
  BOOST_REQUIRE(source.select(kProblem, 1).ok());
  BOOST_REQUIRE(source.admit(kDefault, true).ok());
  return source.admit(kOther, false).kind;
}

BOOST_AUTO_TEST_CASE(a_right_configuration_is_admitted_and_timed) {
  LiveSource source(std::make_unique<test::FakeDevice>());
  BOOST_TEST(source.select(kProblem, 1).ok());
  BOOST_TEST(source.admit(kDefault, true).ok());
  BOOST_TEST(source.admit(kOther, false).ok());
  const TimedRun sample = source.sample(kOther, SampleId{});
  BOOST_TEST(sample.outcome.ok());
  BOOST_TEST(sample.time_us == 520.0);
}

BOOST_AUTO_TEST_CASE(one_wrong_row_of_a_candidate_is_found_wherever_it_is) {
  BOOST_TEST((admit_other("wrong@splits=2") == OutcomeKind::kWrong));
}

BOOST_AUTO_TEST_CASE(one_nan_of_a_candidate_is_found_wherever_it_is) {
  BOOST_TEST((admit_other("nan@splits=2") == OutcomeKind::kNonFinite));
}

BOOST_AUTO_TEST_CASE(a_nan_of_the_first_configuration_is_found_in_a_row_without_a_reference) {
  LiveSource source = faulty("nan");
  BOOST_REQUIRE(source.select(kProblem, 1).ok());
  BOOST_TEST((source.admit(kDefault, true).kind == OutcomeKind::kNonFinite));
}

// Long problems are crossed after others were tuned, with the reference that they had.
BOOST_AUTO_TEST_CASE(a_problem_that_is_selected_again_is_held_against_its_own_reference) {
  const Problem problem = parse_problem("batch=1 nhead=2 seq_len=5000");
  LiveSource source = faulty("wrong@splits=2");
  for (int time = 0; time < 2; ++time) {
    BOOST_REQUIRE(source.select(problem, 1).ok());
    BOOST_TEST(source.admit(kDefault, true).ok());
    BOOST_REQUIRE(source.select(kProblem, 1).ok());
    BOOST_TEST(source.admit(kDefault, true).ok());
  }
  BOOST_REQUIRE(source.select(problem, 2).ok());
  BOOST_TEST(source.admit(kDefault, true).ok());
  BOOST_REQUIRE(source.select(problem, 1).ok());
  BOOST_TEST((source.admit(kOther, true).kind == OutcomeKind::kWrong));
}

BOOST_AUTO_TEST_CASE(a_wrong_first_configuration_is_found_by_the_reference) {
  LiveSource source = faulty("wrong");
  BOOST_REQUIRE(source.select(parse_problem("batch=2 nhead=2 seq_len=20"), 1).ok());
  BOOST_TEST((source.admit(kDefault, true).kind == OutcomeKind::kWrong));
}

BOOST_AUTO_TEST_CASE(a_first_configuration_that_failed_is_not_what_others_are_compared_with) {
  LiveSource source = faulty("nan#1");
  BOOST_REQUIRE(source.select(kProblem, 1).ok());
  BOOST_REQUIRE(!source.admit(kDefault, true).ok());
  BOOST_CHECK_THROW(source.admit(kOther, false), Error);
  BOOST_TEST(source.admit(kOther, true).ok());
  BOOST_TEST(source.admit(kDefault, false).ok());
}

BOOST_AUTO_TEST_CASE(selecting_the_same_problem_again_keeps_the_inputs) {
  auto device = std::make_unique<test::FakeDevice>();
  const int& loads = device->loads;
  LiveSource source(std::move(device));
  BOOST_TEST(source.select(kProblem, 1).ok());
  BOOST_TEST(source.select(kProblem, 1).ok());
  BOOST_TEST(loads == 1);
  BOOST_TEST(source.select(kProblem, 2).ok());
  BOOST_TEST(loads == 2);
}

BOOST_AUTO_TEST_CASE(a_problem_that_does_not_fit_is_an_outcome_and_the_next_one_works) {
  auto device = std::make_unique<test::FakeDevice>();
  bool& full = device->full;
  LiveSource source(std::move(device));
  full = true;
  const Outcome outcome = source.select(kProblem, 1);
  BOOST_TEST((outcome.kind == OutcomeKind::kOutOfMemory));
  BOOST_TEST(outcome.text == "10 GiB do not fit into 8 GiB");
  BOOST_CHECK_THROW(source.admit(kDefault, true), Error);
  full = false;
  BOOST_TEST(source.select(kProblem, 1).ok());
  BOOST_TEST(source.admit(kDefault, true).ok());
}

BOOST_AUTO_TEST_CASE(the_environment_names_machine_and_build) {
  const db::Environment environment = local_environment();
  BOOST_TEST(!environment.driver.empty());
  BOOST_TEST(!environment.runtime.empty());
  BOOST_TEST(!environment.compiler.empty());
  BOOST_TEST(environment.code_hash.size() == 16u);
  BOOST_TEST(!environment.tool_version.empty());
}

// Rows of a GPU once named the host's kernel and C library, so that a new driver went unnoticed.
BOOST_AUTO_TEST_CASE(the_environment_of_a_gpu_names_its_driver_and_runtime) {
  const db::Environment environment = local_environment({"nvidia 580.95.05", "CUDA 13.0"});
  BOOST_TEST(environment.driver == "nvidia 580.95.05");
  BOOST_TEST(environment.runtime == "CUDA 13.0");
  BOOST_TEST(local_environment().driver.find("Linux") == 0u);
}

BOOST_AUTO_TEST_CASE(a_rule_of_the_faulty_device_may_wait_for_its_nth_launch) {
  LiveSource source = faulty("slow.time@splits=2#2");
  BOOST_REQUIRE(source.select(kProblem, 1).ok());
  BOOST_REQUIRE(source.admit(kDefault, true).ok());
  BOOST_TEST(source.sample(kOther, SampleId{}).time_us == 520.0);
  BOOST_TEST(source.sample(kOther, SampleId{}).time_us == 5200.0);
  BOOST_TEST(source.sample(kOther, SampleId{}).time_us == 520.0);
}

BOOST_AUTO_TEST_CASE(fixed_times_are_the_same_in_every_device_and_differ_between_configurations) {
  std::vector<double> times_us;
  for (int i = 0; i < 2; ++i) {
    LiveSource source = faulty("fixed");
    BOOST_REQUIRE(source.select(kProblem, 1).ok());
    BOOST_REQUIRE(source.admit(kDefault, true).ok());
    times_us.push_back(source.sample(kOther, SampleId{}).time_us);
    BOOST_TEST(source.sample(kDefault, SampleId{}).time_us != times_us.back());
  }
  BOOST_TEST(times_us[0] == times_us[1]);
}

BOOST_AUTO_TEST_CASE(a_fault_of_the_device_itself_takes_a_kernel_that_the_program_brings) {
  int queued = 0;
  const auto queue = [&queued](Device&) { ++queued; };
  LiveSource source(
      add_faults(std::make_unique<test::FakeDevice>(), "illegal.run@splits=2", {queue, nullptr}));
  BOOST_REQUIRE(source.select(kProblem, 1).ok());
  BOOST_REQUIRE(source.admit(kDefault, true).ok());
  BOOST_TEST(queued == 0);
  BOOST_REQUIRE(source.admit(kOther, false).ok());
  BOOST_TEST(queued == 1);
  BOOST_REQUIRE(source.sample(kOther, SampleId{}).outcome.ok());
  BOOST_TEST(queued == 1);
}

BOOST_AUTO_TEST_CASE(an_unreadable_rule_is_a_usage_error) {
  for (const char* rules : {"",
                            "crush",
                            "crash@split=4",
                            "crash#0",
                            "crash.go",
                            "illegal",
                            "spin.run",
                            "crash,",
                            "crash@"
                            "splits=x"}) {
    BOOST_CHECK_EXCEPTION(
        faulty(rules), Error, [](const Error& error) { return error.code() == ErrorCode::kUsage; });
  }
}

}  // namespace
}  // namespace mla::tuner

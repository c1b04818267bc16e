// SPDX-License-Identifier: MIT
// What the tuner relies on: identical bits, outcomes for what cannot run, times, several streams.
#include <boost/test/unit_test.hpp>
#include <thread>

#include "kernels/error.h"
#include "kernels/hip/probes.h"
#include "tests/device/gpu.h"

using namespace mla;
using namespace mla::test;

namespace {

Problem long_problem(int32_t batch) {
  Problem problem;
  problem.batch = batch;
  problem.seq_len = 20000;
  return problem;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(problem)

BOOST_AUTO_TEST_CASE(wait_stages_order_and_stage_2_knobs_change_no_bit) {
  CheckedProblem checked(long_problem(3), {}, 8);
  const std::vector<KernelConfig> bases = {config_of(44, 16, 2, 4),
                                           config_of(44, 16, 2, 8),
                                           config_of(2, 16, 2, 4),
                                           config_of(2, 16, 2, 8),
                                           config_of(44, 16, 2, 8, 32),
                                           config_of(2, 16, 2, 8, 32),
                                           config_of(44, 64, 2, 8, 64),
                                           config_of(2, 64, 2, 8, 128)};
  for (const KernelConfig& base : bases) {
    check_same_bits(
        checked,
        long_problem(3),
        base,
        {Knob::kWait, Knob::kStages, Knob::kOrder, Knob::kStage2Tiles, Knob::kStage2Warps});
  }
}

// Two teams over one ring of three slots once took a slot of the phase before for a full one.
BOOST_AUTO_TEST_CASE(two_teams_and_an_odd_number_of_stages_do_not_run_into_each_other) {
  CheckedProblem checked(long_problem(16), {}, 8);
  const KernelConfig config = config_of(33, 16, 3, 8);
  BOOST_REQUIRE(checked.check(config).ok());
  const Output expected = read_output(checked.loaded());
  for (int repeat = 0; repeat < 200; ++repeat) {
    BOOST_REQUIRE(checked.loaded().run(config).ok());
    BOOST_REQUIRE(read_output(checked.loaded()).out == expected.out);
  }
}

// Kernels once read row numbers whose upload was still under way: the list here is past one staging
// buffer.
BOOST_AUTO_TEST_CASE(an_upload_is_complete_before_a_kernel_reads_it) {
  Problem problem;
  problem.batch = 4;
  problem.seq_len = 200000;
  for (int repeat = 0; repeat < 3; ++repeat) {
    CheckedProblem checked(problem, {}, 2);
    BOOST_CHECK(checked.check(config_of(33, 32, 3, 4)).ok());
  }
}

BOOST_AUTO_TEST_CASE(a_ring_that_does_not_fit_is_over_the_limits_and_the_device_goes_on) {
  CheckedProblem checked(long_problem(1), {}, 4);
  KernelConfig largest = config_of(2, 16, 4, 8);
  for (const Knob knob : {Knob::kTileN, Knob::kStages}) {
    set(&largest, knob, test_gpu().space().range(knob).legal.back());
  }
  const Outcome outcome = checked.loaded().run(largest);
  BOOST_CHECK(outcome.kind == OutcomeKind::kOverLimits);
  BOOST_CHECK(outcome.text.find("the copy ring does not fit") != std::string::npos);
  BOOST_CHECK(checked.check(config_of(2, 16, 4, 4)).ok());
}

BOOST_AUTO_TEST_CASE(a_cold_run_has_a_time_and_leaves_the_output_right) {
  CheckedProblem checked(long_problem(1), {}, 2);
  const KernelConfig config = config_of(66, 16, 3, 4);
  BOOST_REQUIRE(checked.check(config).ok());
  const Output expected = read_output(checked.loaded());
  const TimedRun run = checked.loaded().time_cold(config);
  BOOST_REQUIRE(run.outcome.ok());
  BOOST_CHECK_GT(run.time_us, 0);
  BOOST_CHECK(read_output(checked.loaded()).out == expected.out);
}

BOOST_AUTO_TEST_CASE(a_gpu_offers_its_roofs_and_its_cache_is_no_slower_than_its_memory) {
  RoofProbes* roofs = test_gpu().roofs();
  BOOST_REQUIRE(roofs != nullptr);
  const RoofRates rates = roofs->rates();
  BOOST_CHECK_GT(rates.read_gb_s, 0);
  BOOST_CHECK_GE(rates.l2_read_gb_s, rates.read_gb_s);
  BOOST_CHECK_GT(rates.empty_graph_us, 0);
}

BOOST_AUTO_TEST_CASE(the_gather_alone_names_the_configuration_that_was_fastest) {
  CheckedProblem checked(long_problem(1), {}, 2);
  const CopyOnly copy = hip::time_copy_only(checked.loaded(), 3);
  BOOST_CHECK(!test_gpu().space().violation(long_problem(1), copy.config));
}

BOOST_AUTO_TEST_CASE(two_streams_decode_at_the_same_time) {
  const auto decode = [](uint64_t seed, bool* right) {
    const std::unique_ptr<Device> device = hip::open_hip_device("hip:0");
    WorkloadOptions options;
    options.seed = seed;
    const auto workload = std::make_shared<Workload>(long_problem(2), options);
    const auto reference = reference_sample(workload->params(), 8, seed);
    const std::unique_ptr<LoadedProblem> loaded = device->load(workload);
    *right = true;
    for (int repeat = 0; repeat < 50; ++repeat) {
      if (!loaded->run(config_of(33, 16, 4, 4)).ok()) *right = false;
      const Output output = read_output(*loaded);
      *right = *right &&
               check_against_reference(
                   reference, 12, output.out.data(), output.lse.data(), tolerance(KvDtype::kBf16))
                   .ok();
    }
  };
  static_cast<void>(test_gpu());  // opened by one thread
  bool right[2] = {};
  std::thread other(decode, 1, &right[0]);
  decode(2, &right[1]);
  other.join();
  BOOST_CHECK(right[0]);
  BOOST_CHECK(right[1]);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_named) {
  BOOST_CHECK_EXCEPTION(hip::open_hip_device("hip:99"), Error, [](const Error& error) {
    return error.code() == ErrorCode::kDevice &&
           std::string(error.what()).find("hip:99") != std::string::npos;
  });
  BOOST_CHECK_EXCEPTION(hip::open_hip_device("hip:x"), Error, [](const Error& error) {
    return error.code() == ErrorCode::kUsage;
  });
}

BOOST_AUTO_TEST_SUITE_END()

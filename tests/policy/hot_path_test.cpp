// SPDX-License-Identifier: MIT
// That a plan neither allocates nor calls the system: malloc is counted, and the plans run where
// the kernel kills a process at its first system call.
#define BOOST_TEST_MODULE policy_hot_path
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <thread>

#include "tests/policy/abi_support.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/allocations.h"
#include "tests/support/system_calls.h"
#include "tests/support/temporary_directory.h"

using namespace mla::testing;

namespace {

struct Fixture {
  Fixture() : policy(open()) {}

  std::vector<std::string> open() {
    const std::string path = directory.file("tuning.db");
    TunedDatabase database(path);
    database.add_winner(shape(16, 68000), "wait=partial");
    database.add_verdict(shape(8, 68000), mla::db::Verdict::kDefaultBest);
    for (const int32_t batch : {40, 60}) database.add_winner(shape(batch, 68000), "wait=partial");
    return {path};
  }

  // Exact, bucketed, default, default-is-best, unknown length, rejected and interpolated ones in
  // turn. Returns the plans with a wrong source.
  int plan_a_million_times() const {
    const mla_shape shapes[] = {abi_shape(16, 68000),
                                abi_shape(16, 66000),
                                abi_shape(17, 9000),
                                abi_shape(8, 68000),
                                abi_shape(16, 0),
                                abi_shape(-1, 0),
                                abi_shape(50, 68000)};
    constexpr int32_t kSources[] = {MLA_SOURCE_EXACT,
                                    MLA_SOURCE_BUCKETED,
                                    MLA_SOURCE_DEFAULT,
                                    MLA_SOURCE_EXACT,
                                    MLA_SOURCE_DEFAULT,
                                    MLA_SOURCE_DEFAULT,
                                    MLA_SOURCE_INTERPOLATED};
    mla_plan plan = empty_plan();
    int wrong = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      mla_policy_plan(policy.get(), &shapes[i % 7], &plan);
      wrong += plan.source != kSources[i % 7];
    }
    return wrong;
  }

  TemporaryDirectory directory;
  OpenPolicy policy;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hot_path, Fixture)

BOOST_AUTO_TEST_CASE(the_trap_sees_an_allocation) {
  const uint64_t before = allocations;
  delete new std::atomic<int>(1);
  BOOST_TEST(allocations > before);
}

BOOST_AUTO_TEST_CASE(a_million_plans_allocate_nothing) {
  const uint64_t before = allocations;
  const int wrong = plan_a_million_times();
  const uint64_t after = allocations;
  BOOST_TEST(wrong == 0);
  BOOST_TEST(after == before);
}

BOOST_AUTO_TEST_CASE(plans_and_reports_of_every_mode_allocate_nothing) {
  const mla_shape shapes[] = {abi_shape(16, 68000), abi_shape(1, 68000), abi_shape(-1, 0)};
  const auto allocated_by_plans = [&] {
    mla_plan plan = empty_plan();
    const uint64_t before = allocations;
    for (const mla_shape& shape : shapes) {
      mla_policy_plan(policy.get(), &shape, &plan);
      mla_policy_report(policy.get(), &shape, 100);
    }
    return allocations - before;
  };
  for (const mla_mode mode : {MLA_MODE_LOOKUP, MLA_MODE_OFF, MLA_MODE_DETERMINISTIC}) {
    mla_policy_set_mode(policy.get(), mode);
    BOOST_TEST(allocated_by_plans() == 0u);
  }
  mla_policy_pin(policy.get(), "splits=8 order=split_major");  // not legal for the second shape
  BOOST_TEST(allocated_by_plans() == 0u);
}

BOOST_AUTO_TEST_CASE(the_first_plans_of_a_thread_older_than_the_policy_allocate_nothing) {
  std::atomic<const OpenPolicy*> handed_over{nullptr};
  uint64_t allocated = 1;
  int32_t splits = 0;
  std::thread older([&] {
    const OpenPolicy* opened = nullptr;
    while ((opened = handed_over) == nullptr) std::this_thread::yield();
    const uint64_t before = allocations;
    splits = opened->plan(abi_shape(16, 68000)).splits;
    allocated = allocations - before;
  });
  const OpenPolicy opened({directory.file("tuning.db")});
  handed_over = &opened;
  older.join();
  BOOST_TEST(splits == 16);
  BOOST_TEST(allocated == 0u);
}

BOOST_AUTO_TEST_CASE(a_million_plans_make_no_system_call, *kForbidding) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_system_calls()) exit_thread(77);
    exit_thread(plan_a_million_times() == 0 ? 0 : 1);
  }
  BOOST_TEST(status_of_child(child) == 0);
}

BOOST_AUTO_TEST_CASE(the_first_plan_of_an_older_thread_makes_no_system_call, *kForbidding) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> phase{0};
    std::thread older([&] {
      while (phase != 1) std::this_thread::yield();
      const bool forbidden = forbid_system_calls();
      const bool right = policy.plan(abi_shape(16, 68000)).source == MLA_SOURCE_EXACT;
      phase = forbidden && right ? 2 : 3;
      exit_thread(0);
    });
    const OpenPolicy opened({directory.file("tuning.db")});
    phase = 1;
    while (phase == 1) std::this_thread::yield();
    _exit(phase == 2 ? 0 : 1);
  }
  BOOST_TEST(status_of_child(child) == 0);
}

BOOST_AUTO_TEST_CASE(the_trap_kills_at_the_first_system_call, *kForbidding) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_system_calls()) exit_thread(77);
    syscall(SYS_getpid);
    exit_thread(0);
  }
  BOOST_TEST(status_of_child(child) == 256 + SIGSYS);
}

BOOST_AUTO_TEST_SUITE_END()

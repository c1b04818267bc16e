// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE policy_misses
#include <boost/test/unit_test.hpp>
#include <limits>
#include <sstream>
#include <thread>

#include "tests/policy/abi_support.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/temporary_directory.h"

using namespace mla::testing;

namespace {

struct Fixture {
  Fixture() : policy(tuned()) {}

  std::vector<std::string> tuned() {
    const std::string path = directory.file("tuning.db");
    TunedDatabase(path).add_winner(shape(16, 68000), "wait=partial");
    return {path};
  }

  std::vector<std::string> lines() const {
    std::string text(mla_policy_misses(policy.get(), nullptr, 0), '\0');
    mla_policy_misses(policy.get(), text.data(), text.size());
    text.pop_back();
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  void report(const mla_shape& of, double time_us) const {
    BOOST_TEST(mla_policy_report(policy.get(), &of, time_us) == MLA_OK);
  }

  TemporaryDirectory directory;
  OpenPolicy policy;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(misses, Fixture)

BOOST_AUTO_TEST_CASE(only_shapes_that_no_database_answered_are_listed_each_with_its_count) {
  mla_shape shared = abi_shape(4, 68000);
  shared.shared_prefix = 63240;
  shared.page_size = 64;
  shared.large_pool = 1;
  for (int i = 0; i < 3; ++i) policy.plan(abi_shape(8, 68000));
  policy.plan(abi_shape(16, 68000));  // tuned
  policy.plan(abi_shape(-1, 68000));  // rejected
  policy.plan(shared);
  policy.plan(abi_shape(8, 0));  // unknown length
  policy.plan(abi_shape(8, 0));
  BOOST_TEST(
      lines() == std::vector<std::string>({"# mla-tune misses 1: all_time_us=0.000 forgotten=0",
                                           "3\t0.000\tbatch=8 nhead=12 seq_len=68000",
                                           "2\t0.000\tbatch=8 nhead=12 seq_len=0",
                                           "1\t0.000\tbatch=4 nhead=12 seq_len=68000 page_size=64 "
                                           "shared_prefix=63240/8 pool=large"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_longest_time_comes_first_and_hits_count_in_the_time_of_all) {
  for (int i = 0; i < 5; ++i) policy.plan(abi_shape(8, 68000));
  policy.plan(abi_shape(4, 68000));
  report(abi_shape(4, 68000), 1500.25);
  report(abi_shape(8, 68000), 400);
  report(abi_shape(8, 68000), 100);
  report(abi_shape(16, 68000), 1000);  // a hit
  BOOST_TEST(
      lines() == std::vector<std::string>({"# mla-tune misses 1: all_time_us=3000.250 forgotten=0",
                                           "1\t1500.250\tbatch=4 nhead=12 seq_len=68000",
                                           "5\t500.000\tbatch=8 nhead=12 seq_len=68000"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_sequence_that_grows_does_not_fill_the_table) {
  for (int64_t seq_len = 1; seq_len <= 1'000'000; ++seq_len) policy.plan(abi_shape(8, seq_len));
  BOOST_TEST(lines().size() <= 1 + 81u);  // four buckets an octave below 2^20
  BOOST_TEST(lines().front() == "# mla-tune misses 1: all_time_us=0.000 forgotten=0");
}

BOOST_AUTO_TEST_CASE(misses_beyond_the_room_are_counted_as_forgotten) {
  constexpr int kShapes = 4000;
  for (int batch = 1; batch <= kShapes; ++batch) policy.plan(abi_shape(batch, 1));
  const std::vector<std::string> all = lines();
  BOOST_TEST(all.size() > 512u);
  BOOST_TEST(all.size() <= 1 + 1024u);
  BOOST_TEST(all.front() == "# mla-tune misses 1: all_time_us=0.000 forgotten=" +
                                std::to_string(kShapes - (all.size() - 1)));
}

BOOST_AUTO_TEST_CASE(a_time_or_shape_that_cannot_be_meant_is_refused) {
  const mla_shape good = abi_shape(8, 68000), bad = abi_shape(-1, 68000);
  for (const double time_us : {-1.0,
                               1e13,
                               std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    BOOST_TEST(mla_policy_report(policy.get(), &good, time_us) == MLA_ERROR_USAGE);
  }
  BOOST_TEST(mla_policy_report(policy.get(), &bad, 1) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_report(policy.get(), nullptr, 1) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_report(nullptr, &good, 1) == MLA_ERROR_USAGE);
  BOOST_TEST(lines().size() == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_is_missed_while_lookups_are_off) {
  mla_policy_set_mode(policy.get(), MLA_MODE_OFF);
  policy.plan(abi_shape(8, 68000));
  BOOST_TEST(lines().size() == 1u);
}

BOOST_AUTO_TEST_CASE(misses_of_many_threads_are_all_counted_while_they_are_listed) {
  constexpr int kThreads = 4, kPlans = 20'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPlans; ++i) policy.plan(abi_shape(1 + i % 8, 1000));
    });
  }
  for (int i = 0; i < 100; ++i) BOOST_TEST(lines().size() <= 9u);
  for (std::thread& thread : threads) thread.join();
  int64_t total = 0;
  const std::vector<std::string> all = lines();
  for (size_t i = 1; i < all.size(); ++i) total += std::stoll(all[i]);
  BOOST_TEST(all.size() == 9u);
  BOOST_TEST(total == kThreads * kPlans);
}

BOOST_AUTO_TEST_SUITE_END()

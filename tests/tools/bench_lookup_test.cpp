// SPDX-License-Identifier: MIT
// The bench of lookups measures what it says: every table, and all threads beside the reloads.
#define BOOST_TEST_MODULE tools_bench_lookup
#include "tools/bench_lookup.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/support/temporary_directory.h"

using namespace mla::tools;
using mla::testing::TemporaryDirectory;

namespace {

LookupBench bench(const TemporaryDirectory& directory, const std::atomic<bool>& stop) {
  LookupBenchOptions options;
  options.table_rows = {16, 256};
  options.scratch_dir = directory.path().string();
  options.threads = 3;
  return bench_lookup(options, nullptr, stop);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_table_is_opened_and_read_and_the_threads_are_timed_during_reloads) {
  const TemporaryDirectory directory;
  const std::atomic<bool> stop{false};
  const LookupBench result = bench(directory, stop);
  BOOST_TEST(result.openings.size() == 2u);
  for (const LookupOpening& opening : result.openings) {
    BOOST_TEST(opening.open_ms > 0);
    BOOST_TEST(opening.bytes_per_row > 0);
  }
  // Hit and default of both, a default by costs of the smaller, uniform of the larger.
  BOOST_TEST(result.times.size() == 6u);
  BOOST_TEST_REQUIRE(result.concurrent.size() == 1u);
  const ConcurrentLookups& threads = result.concurrent.front();
  BOOST_TEST(threads.threads == 3);
  BOOST_TEST(threads.reloads >= 1);
  BOOST_TEST(threads.median_ns > 0);
  BOOST_TEST(threads.p999_ns >= threads.median_ns);
  BOOST_TEST(std::filesystem::is_empty(directory.path()));  // what it wrote is gone
}

BOOST_AUTO_TEST_CASE(a_bench_that_is_stopped_claims_nothing_that_it_did_not_measure) {
  const TemporaryDirectory directory;
  const std::atomic<bool> stop{true};
  const LookupBench result = bench(directory, stop);
  BOOST_TEST(result.times.empty());
  BOOST_TEST(result.concurrent.empty());
}

// SPDX-License-Identifier: MIT
// The reference of a workload without a pool on the host is that of the same workload with one.
#define BOOST_TEST_MODULE workload_reference
#include "kernels/workload_reference.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

namespace mla {
namespace {

std::vector<ReferenceRow> sample(const std::string& text, bool with_pool) {
  WorkloadOptions options;
  options.seed = 7;
  options.with_pool = with_pool;
  const Workload workload(parse_problem(text), options);
  return reference_sample(workload, 9, 3);
}

BOOST_AUTO_TEST_CASE(rows_made_again_are_the_rows_of_the_pool) {
  for (const char* text : {"batch=5 nhead=12 seq_len=300",
                           "batch=3 nhead=4 seq_len=130 q_len=2 page_size=64",
                           "batch=9 nhead=12 seq_len=100 shared_prefix=64/4 page_size=16",
                           "batch=4 nhead=8 seq_len=90 imbalance=4",
                           "batch=2 nhead=2 seq_len=40 pool=large",
                           "batch=2 nhead=4 seq_len=70 kv_dtype=fp8"}) {
    const Problem problem = parse_problem(text);
    WorkloadOptions options;
    options.seed = 7;
    const Workload pooled(problem, options);
    const std::vector<ReferenceRow> rows = sample(text, false);
    const int64_t all = int64_t{problem.batch} * problem.q_len * problem.nhead;
    BOOST_TEST(rows.size() == static_cast<size_t>(std::min<int64_t>(9, all)), text);
    BOOST_TEST(rows.front().token == 0);
    BOOST_TEST(rows.back().token == int64_t{problem.batch} * problem.q_len - 1);
    for (const ReferenceRow& row : rows) {
      const ReferenceRow expected = reference_row(pooled.params(), row.token, row.head);
      BOOST_TEST(row.lse == expected.lse, text);
      BOOST_TEST(row.out == expected.out, text);
    }
  }
}

BOOST_AUTO_TEST_CASE(requests_that_are_taken_in_parts_have_the_same_result) {
  for (const char* text : {"batch=1 nhead=3 seq_len=5000",
                           "batch=2 nhead=2 seq_len=1024",
                           "batch=2 nhead=2 seq_len=1025 q_len=4",  // some see nothing of a part
                           "batch=3 nhead=2 seq_len=3000 page_size=64 imbalance=2 kv_dtype=fp8"}) {
    WorkloadOptions options;
    options.seed = 7;
    const Workload pooled(parse_problem(text), options);
    for (const ReferenceRow& row : sample(text, false)) {
      const ReferenceRow expected = reference_row(pooled.params(), row.token, row.head);
      BOOST_TEST(row.lse == expected.lse, boost::test_tools::tolerance(1e-13));
      for (size_t i = 0; i < row.out.size(); ++i) {
        BOOST_TEST_REQUIRE(std::abs(row.out[i] - expected.out[i]) < 1e-13, text);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(fewer_rows_than_asked_for_are_all_of_them) {
  BOOST_TEST(sample("batch=1 nhead=3 seq_len=20", false).size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_large_batch_has_a_bounded_number_of_spikes_and_all_its_edges) {
  WorkloadOptions options;
  options.with_pool = false;
  const Workload workload(parse_problem("batch=128 nhead=128 seq_len=4000"), options);
  BOOST_TEST(workload.spikes().size() <= 16384u);
  std::vector<bool> first(128), last(128);
  for (const Workload::SpikeRow& spike : workload.spikes()) {
    if (spike.n == 0) first[static_cast<size_t>(spike.request)] = true;
    if (spike.n == 3999) last[static_cast<size_t>(spike.request)] = true;
  }
  BOOST_TEST(std::count(first.begin(), first.end(), true) == 128);
  BOOST_TEST(std::count(last.begin(), last.end(), true) == 128);
}

}  // namespace
}  // namespace mla

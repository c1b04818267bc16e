// SPDX-License-Identifier: MIT
// What a decode step computes on the GPU, for every kind of problem and every compiled kernel.
#include <array>
#include <boost/test/unit_test.hpp>

#include "tests/device/gpu.h"

using namespace mla;
using namespace mla::test;

namespace {

// Empty, shorter than a tile, one more than a page, and longer than any tile times a few splits.
const std::vector<int64_t> kLengths = {0, 1, 15, 64, 65, 1000, 333};

constexpr std::array<int32_t, 8> kHeadCounts = {1, 5, 12, 16, 24, 33, 64, 128};

Problem ragged(int32_t page_size, int32_t nhead, int32_t q_len) {
  Problem problem;
  problem.batch = static_cast<int32_t>(kLengths.size());
  problem.seq_len = 1000;
  problem.page_size = page_size;
  problem.nhead = nhead;
  problem.q_len = q_len;
  return problem;
}

WorkloadOptions ragged_options() {
  WorkloadOptions options;
  options.lengths = kLengths;
  options.spike_splits = 3;
  return options;
}

void check_problem(const Problem& problem,
                   const WorkloadOptions& options,
                   const std::vector<KernelConfig>& configs) {
  BOOST_REQUIRE(!configs.empty());
  CheckedProblem checked(problem, options, 64);
  for (const KernelConfig& config : configs) {
    const Outcome outcome = checked.check(config);
    BOOST_CHECK_MESSAGE(outcome.ok(),
                        to_text(problem) << " | " << to_text(config) << " | " << name(outcome.kind)
                                         << ": " << outcome.text);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decode)

BOOST_AUTO_TEST_CASE(every_head_count_page_size_and_query_length_is_right_at_ragged_lengths) {
  const std::vector<KernelConfig> configs = {config_of(1, 16, 6, 4),
                                             config_of(7, 16, 3, 8),
                                             config_of(5, 32, 3, 4),
                                             config_of(1, 16, 8, 8, 32),
                                             config_of(2, 16, 11, 8, 32),
                                             config_of(7, 32, 5, 8, 32),
                                             config_of(1, 64, 2, 8, 64),
                                             config_of(3, 64, 2, 8, 64),
                                             config_of(1, 64, 2, 8, 128),
                                             config_of(7, 64, 2, 8, 128)};
  for (const int32_t page_size : {1, 16, 64}) {
    for (const int32_t nhead : kHeadCounts) {
      for (const int32_t q_len : {1, 2, 4, 7}) {
        check_problem(ragged(page_size, nhead, q_len), ragged_options(), configs);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_shape_of_stage_1_is_right) {
  for (const int32_t page_size : {1, 64}) {
    for (const int32_t nhead : {12, 24}) {
      check_problem(ragged(page_size, nhead, 2), ragged_options(), stage1_shapes());
    }
  }
}

BOOST_AUTO_TEST_CASE(fp8_rows_are_right_in_every_shape_of_stage_1_at_every_page_size,
                     *boost::unit_test::precondition(has_fp8_kernels)) {
  for (const int32_t page_size : {1, 16, 64}) {
    Problem problem = ragged(page_size, 12, 2);
    problem.kv_dtype = KvDtype::kFp8;
    check_problem(problem, ragged_options(), stage1_shapes(problem));
  }
}

BOOST_AUTO_TEST_CASE(fp8_rows_are_right_at_every_head_count,
                     *boost::unit_test::precondition(has_fp8_kernels)) {
  for (const int32_t nhead : kHeadCounts) {
    Problem problem = ragged(1, nhead, 1);
    problem.kv_dtype = KvDtype::kFp8;
    std::vector<KernelConfig> configs = allowed(problem, three_team_shapes());
    configs.push_back(config_of(1, 32, 3, 8));
    configs.push_back(config_of(7, 16, 3, 4));
    check_problem(problem, ragged_options(), configs);
  }
}

BOOST_AUTO_TEST_CASE(every_split_count_is_right_also_above_the_number_of_blocks) {
  std::vector<KernelConfig> configs;
  for (int splits = 1; splits <= 66; ++splits) configs.push_back(config_of(splits, 16, 4, 8));
  check_problem(ragged(1, 12, 1), ragged_options(), configs);
}

BOOST_AUTO_TEST_CASE(strided_queries_are_read_where_they_are) {
  for (const int64_t padding : {1, 8}) {  // an odd stride leaves rows off 4-byte boundaries
    WorkloadOptions options = ragged_options();
    options.q_padding = padding;
    check_problem(
        ragged(1, 12, 2),
        options,
        {config_of(3, 16, 4, 4), config_of(3, 64, 2, 8, 64), config_of(1, 64, 2, 8, 128)});
  }
}

BOOST_AUTO_TEST_CASE(a_shared_prefix_is_read_by_all_of_its_group) {
  Problem problem;
  problem.batch = 10;
  problem.seq_len = 1200;
  problem.shared_prefix = 1000;
  check_problem(problem, {}, {config_of(5, 16, 4, 8), config_of(1, 32, 3, 4)});
}

BOOST_AUTO_TEST_CASE(
    every_query_length_is_right_at_lengths_around_it_also_where_positions_share_a_group) {
  for (int32_t q_len = 1; q_len <= kMaxQLen; ++q_len) {
    for (const int32_t nhead : {1, 5, 12, 24}) {
      WorkloadOptions options;
      options.lengths = {0, 1, q_len - 1, q_len, q_len + 1, 65, 300};
      check_problem(ragged(1, nhead, q_len),
                    options,
                    {config_of(1, 16, 4, 4),
                     config_of(3, 16, 4, 8),
                     config_of(2, 32, 3, 4),
                     config_of(1, 16, 4, 8, 32),
                     config_of(2, 16, 4, 8, 32),
                     config_of(3, 32, 3, 8, 32),
                     config_of(1, 64, 2, 8, 64),
                     config_of(3, 64, 2, 8, 128)});
    }
  }
}

BOOST_AUTO_TEST_CASE(scattered_rows_of_a_pool_past_2_to_the_32_bytes_are_found) {
  Problem problem;
  problem.batch = 4;
  problem.seq_len = 3000;
  for (const int64_t pool_rows : {(int64_t{1} << 31) / kHeadDim + 8, (int64_t{1} << 33) / 1152}) {
    WorkloadOptions options;
    options.pool_pages = pool_rows;
    check_problem(problem, options, {config_of(9, 16, 4, 8), config_of(1, 64, 2, 4)});
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(full, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(every_problem_of_the_correctness_list_is_right) {
  const std::vector<KernelConfig> configs = {config_of(1, 16, 6, 4),
                                             config_of(7, 16, 3, 8),
                                             config_of(3, 16, 8, 8, 32),
                                             config_of(1, 64, 2, 8, 64),
                                             config_of(3, 64, 2, 8, 64),
                                             config_of(2, 64, 2, 8, 128)};
  for (const int32_t page_size : {1, 16, 64}) {
    for (const int32_t nhead : kHeadCounts) {
      for (int32_t q_len = 1; q_len <= kMaxQLen; ++q_len) {
        check_problem(ragged(page_size, nhead, q_len), ragged_options(), configs);
        for (const int64_t length : {0, 1, 15, 64, 65, 1000}) {
          Problem problem = ragged(page_size, nhead, q_len);
          problem.batch = 2;
          WorkloadOptions options;
          options.lengths = {length, length};
          check_problem(problem, options, configs);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

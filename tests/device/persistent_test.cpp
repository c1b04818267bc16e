// SPDX-License-Identifier: MIT
// The persistent schedule: every kind of batch, cut wherever a share ends.
#include <boost/test/unit_test.hpp>

#include "tests/device/gpu.h"

using namespace mla;
using namespace mla::test;

namespace {

// Shares cut to few pieces a request, and as many as there are workgroups.
std::vector<KernelConfig> persistent_shapes() {
  std::vector<KernelConfig> configs;
  for (const int splits : {2, 3, 9, 300}) {
    configs.push_back(persistent(splits, 16, 3));
    configs.push_back(persistent(splits, 32, 2));
    configs.push_back(persistent(splits, 16, 8, 32));
    configs.push_back(persistent(splits, 32, 5, 32));
  }
  return configs;
}

void check_lengths(const std::vector<int64_t>& lengths,
                   const Problem& shape = {},
                   const WorkloadOptions& base = {}) {
  WorkloadOptions options = base;
  options.lengths = lengths;
  Problem problem = shape;
  problem.batch = static_cast<int32_t>(lengths.size());
  problem.seq_len = std::max<int64_t>(1, *std::max_element(lengths.begin(), lengths.end()));
  CheckedProblem checked(problem, options, 64);
  const std::vector<KernelConfig> configs = allowed(problem, persistent_shapes());
  BOOST_REQUIRE(!configs.empty());
  for (const KernelConfig& config : configs) {
    const Outcome outcome = checked.check(config);
    BOOST_CHECK_MESSAGE(outcome.ok(),
                        to_text(problem) << " | " << to_text(config) << " | " << name(outcome.kind)
                                         << ": " << outcome.text);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(persistent_schedule, *boost::unit_test::precondition(has_persistent_schedule))

BOOST_AUTO_TEST_CASE(every_head_count_page_size_and_query_length_is_right_at_ragged_lengths) {
  for (const int32_t page_size : {1, 16, 64}) {
    for (const int32_t nhead : {1, 12, 16, 33, 128}) {
      for (const int32_t q_len : {1, 2, 3, 8}) {
        Problem shape;
        shape.page_size = page_size;
        shape.nhead = nhead;
        shape.q_len = q_len;
        WorkloadOptions options;
        options.q_padding = page_size == 16 ? 8 : 0;
        check_lengths({0, 1, 15, 64, 65, 1000, 333, 0}, shape, options);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(fp8_rows_are_right_at_ragged_lengths,
                     *boost::unit_test::precondition(has_fp8_kernels)) {
  for (const int32_t page_size : {1, 16, 64}) {
    for (const int32_t nhead : {12, 33}) {
      for (const int32_t q_len : {1, 3}) {
        Problem shape;
        shape.kv_dtype = KvDtype::kFp8;
        shape.page_size = page_size;
        shape.nhead = nhead;
        shape.q_len = q_len;
        check_lengths({0, 1, 15, 64, 65, 1000, 333, 0, 3000}, shape);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_batch_of_empty_requests_is_all_zeros) {
  check_lengths({0, 0, 0});
}

BOOST_AUTO_TEST_CASE(one_long_request_among_empty_ones_is_spread_over_all_workgroups) {
  check_lengths({0, 0, 30000, 0, 0, 0, 7});
}

BOOST_AUTO_TEST_CASE(more_requests_than_the_lanes_of_a_warp_and_than_workgroups_are_found) {
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < 700; ++b) lengths.push_back(b % 5 == 0 ? 0 : b * 37 % 400);
  check_lengths(lengths);
}

BOOST_AUTO_TEST_CASE(fewer_blocks_than_workgroups_leave_the_surplus_idle) {
  check_lengths({1});
  check_lengths({100, 17});
}

BOOST_AUTO_TEST_CASE(wait_stages_and_stage_2_knobs_change_no_bit) {
  Problem problem;
  problem.batch = 3;
  problem.seq_len = 20000;
  CheckedProblem checked(problem, {}, 8);
  for (const KernelConfig& base : {persistent(100, 16, 2), persistent(100, 16, 2, 32)}) {
    check_same_bits(checked,
                    problem,
                    base,
                    {Knob::kWait, Knob::kStages, Knob::kStage2Tiles, Knob::kStage2Warps});
  }
}

BOOST_AUTO_TEST_CASE(what_has_no_persistent_kernel_is_over_the_limits) {
  Problem problem;
  problem.seq_len = 1000;
  CheckedProblem checked(problem, {}, 2);
  for (const KernelConfig& config :
       {persistent(1, 16, 3), persistent(4, 16, 11), persistent(4, 64, 2)}) {
    BOOST_CHECK(checked.loaded().run(config).kind == OutcomeKind::kOverLimits);
  }
}

BOOST_AUTO_TEST_SUITE_END()

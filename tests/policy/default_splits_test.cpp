// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE default_splits
#include "policy/default_splits.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

using namespace mla;
using namespace mla::policy;

namespace {

constexpr int64_t kUnits = 100;
constexpr int64_t kManySplits = 1000;

DefaultCosts costs_of(double row_us, double memory_row_us) {
  DefaultCosts costs;
  costs.kernels = {{{}, 1, 10, 5, row_us, memory_row_us, 0.3}};
  costs.merge_us = 1;
  costs.late_us = 2;
  costs.beside_warps = 16;
  costs.split_us = 0.4;
  return costs;
}

const DefaultCosts kBoundByMemory = costs_of(0.025, 0.034);
const DefaultCosts kBoundByProducts = costs_of(0.034, 0.034);

double time_us(const DefaultCosts& costs, const SplitShape& shape, int64_t splits) {
  return default_time_us(costs, costs.kernels[0], shape, splits, {12 * shape.workgroups, 8});
}

int64_t splits_for(int64_t workgroups, int64_t rows, const DefaultCosts& costs = kBoundByMemory) {
  const SplitShape shape = {workgroups, kUnits, rows, 32};
  const SplitCandidates candidates = split_candidates(shape, kManySplits);
  return *std::min_element(
      candidates.splits.begin(),
      candidates.splits.begin() + candidates.count,
      [&](int64_t a, int64_t b) { return time_us(costs, shape, a) < time_us(costs, shape, b); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_batch_that_fills_the_device_once_keeps_its_splits) {
  BOOST_TEST(splits_for(10, 100000) == 10);
  BOOST_TEST(splits_for(50, 100000) == 2);
  BOOST_TEST(splits_for(100, 100000) == 1);
}

BOOST_AUTO_TEST_CASE(idle_units_that_cost_no_rate_are_left_idle) {
  BOOST_TEST(splits_for(80, 2000) == 1);
  BOOST_TEST(splits_for(80, 100000) == 1);
  BOOST_TEST(splits_for(80, 100000, kBoundByProducts) > 1);
}

// One workgroup more than the device holds, or half of them and one, would take twice as long.
BOOST_AUTO_TEST_CASE(a_wave_that_is_nearly_empty_is_cut_into_more_waves) {
  for (const int64_t workgroups : {51, 101}) {
    const int64_t splits = splits_for(workgroups, 100000, kBoundByProducts);
    const int64_t waves = (workgroups * splits + kUnits - 1) / kUnits;
    BOOST_TEST(splits > 1);
    BOOST_TEST(10 * workgroups * splits > 8 * waves * kUnits);
  }
}

BOOST_AUTO_TEST_CASE(short_requests_are_not_worth_the_partial_results) {
  BOOST_TEST(splits_for(51, 128) == 1);
  BOOST_TEST(splits_for(101, 128) == 1);
}

// Of 80 requests by memory alone, 20 units cost a fifth of the rate and no more.
BOOST_AUTO_TEST_CASE(time_is_the_sum_of_its_terms) {
  const SplitShape shape = {80, kUnits, 3200, 32};
  BOOST_TEST(time_us(kBoundByMemory, shape, 1) == 10 + 3200 * 0.8 * 0.034,
             boost::test_tools::tolerance(1e-12));
  // 160 workgroups: one full wave and one of 60, each with 1,600 rows.
  BOOST_TEST(time_us(kBoundByMemory, shape, 2) == 10 + 1600 * 0.034 + 1600 * 0.025 + 5 + 0.3,
             boost::test_tools::tolerance(1e-12));
  // 80 workgroups in all, 20 units with room for 40 of 120 workgroups of stage 2.
  const SplitShape ten = {10, kUnits, 3200, 32};
  BOOST_TEST(time_us(kBoundByMemory, ten, 8) ==
                 10 + 13 * 32 * 0.8 * 0.034 + 1 + 0.4 * 8 / 8 + 2 * (1 - 20 * 2 / 120.0),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(workgroups_with_the_same_rows_read_one_copy) {
  SplitShape shape = {100, kUnits, 3200, 32};
  const double alone_us = time_us(kBoundByMemory, shape, 1);
  shape.sharers = 4;
  BOOST_TEST(time_us(kBoundByMemory, shape, 1) < alone_us);
  BOOST_TEST(time_us(kBoundByMemory, shape, 1) == 10 + 3200 * 0.025,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(rows_of_more_than_the_near_bytes_come_slower) {
  DefaultCosts costs = kBoundByMemory;
  costs.far_bytes = 1e9;
  costs.far_row_growth = 0.1;
  costs.far_memory_growth = 0.2;
  SplitShape shape = {100, kUnits, 3200, 32};
  shape.bytes = 1e8;
  BOOST_TEST(time_us(costs, shape, 1) == time_us(kBoundByMemory, shape, 1));
  shape.bytes = 4e9;
  BOOST_TEST(time_us(costs, shape, 1) == 10 + 3200 * 0.034 * 1.4,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_unit_with_two_workgroups_has_room_for_stage_2_in_halves) {
  DefaultCosts costs = kBoundByMemory;
  costs.kernels[0].resident = 2;
  const SplitShape shape = {10, 2 * kUnits, 3200, 32};
  BOOST_TEST(default_time_us(costs, costs.kernels[0], shape, 16, {120, 8}) ==
                 10 + 7 * 32 * std::max(0.025, 0.034 * 160 / 200) + 1 + 0.4 * 16 / 8 +
                     2 * (1 - 40 * 16 / 2 / 8 / 120.0),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(most_splits_have_two_blocks) {
  for (int64_t rows = 1; rows <= 2000; ++rows) {
    const SplitCandidates candidates = split_candidates({1, kUnits, rows, 32}, kManySplits);
    const int64_t blocks = (rows + 31) / 32;
    BOOST_TEST(candidates.count >= 1);
    for (int i = 0; i < candidates.count; ++i) {
      const int64_t splits = candidates.splits[static_cast<size_t>(i)];
      BOOST_TEST(splits >= 1);
      BOOST_TEST((splits == 1 || 2 * splits <= blocks + 1), rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_candidate_is_twice_there_or_above_the_most) {
  for (int64_t workgroups = 1; workgroups <= 900; ++workgroups) {
    for (const int64_t rows : {1, 100, 3000, 131072, 16777215}) {
      const SplitShape shape = {workgroups, kUnits, rows, 32};
      const int64_t most = most_default_splits(shape);
      BOOST_TEST((most <= std::max<int64_t>(1, kUnits / workgroups) ||
                  (most <= kMostWaveSplits && workgroups * most <= kMostWaves * kUnits)));
      SplitCandidates candidates = split_candidates(shape, 20);
      const auto end = candidates.splits.begin() + candidates.count;
      std::sort(candidates.splits.begin(), end);
      BOOST_TEST(*(end - 1) <= std::min<int64_t>(most, 20), workgroups << " x " << rows);
      BOOST_TEST((std::adjacent_find(candidates.splits.begin(), end) == end));
    }
  }
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE default_splits
#include "policy/default_splits.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

using namespace mla;
using namespace mla::policy;

namespace {

constexpr int64_t kUnits = 100;
const DefaultCosts::Group kCosts = {16, 100, 50, 0.75};

int64_t splits_for(int64_t workgroups, int64_t rows, const DefaultCosts::Group& costs = kCosts) {
  const int64_t filling = std::max<int64_t>(1, kUnits / workgroups);
  return default_splits(costs, {workgroups, kUnits, rows, 32}, filling);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_batch_that_fills_the_device_once_keeps_its_splits) {
  BOOST_TEST(splits_for(1, 100000) == 100);
  BOOST_TEST(splits_for(10, 100000) == 10);
  BOOST_TEST(splits_for(50, 100000) == 2);
  BOOST_TEST(splits_for(100, 100000) == 1);
}

BOOST_AUTO_TEST_CASE(idle_units_that_cost_no_rate_are_left_idle) {
  BOOST_TEST(splits_for(80, 100000) == 1);
  DefaultCosts::Group bound_by_products = kCosts;
  bound_by_products.enough = 1;
  BOOST_TEST(splits_for(80, 100000, bound_by_products) > 1);
}

// One workgroup more than the device holds, or half of them and one, would take twice as long.
BOOST_AUTO_TEST_CASE(a_wave_that_is_nearly_empty_is_cut_into_more_waves) {
  for (const int64_t workgroups : {51, 101}) {
    const int64_t splits = splits_for(workgroups, 100000);
    const int64_t waves = (workgroups * splits + kUnits - 1) / kUnits;
    BOOST_TEST(splits > 1);
    BOOST_TEST(10 * workgroups * splits > 8 * waves * kUnits);
  }
}

BOOST_AUTO_TEST_CASE(short_requests_are_not_worth_the_partial_results) {
  BOOST_TEST(splits_for(51, 128) == 1);
  BOOST_TEST(splits_for(101, 128) == 1);
}

BOOST_AUTO_TEST_CASE(all_splits_but_the_last_have_two_blocks) {
  for (int64_t rows = 1; rows <= 2000; ++rows) {
    const int64_t splits = splits_for(1, rows), blocks = (rows + 31) / 32;
    BOOST_TEST(splits >= 1);
    BOOST_TEST((splits == 1 || 2 * splits <= blocks + 1), rows);
  }
}

BOOST_AUTO_TEST_CASE(no_length_takes_more_than_the_most) {
  for (int64_t workgroups = 1; workgroups <= 900; ++workgroups) {
    const int64_t filling = std::max<int64_t>(1, kUnits / workgroups);
    const int64_t most = most_default_splits(workgroups, kUnits, filling);
    for (const int64_t rows : {1, 100, 3000, 131072, 16777215}) {
      BOOST_TEST(splits_for(workgroups, rows) <= most, workgroups << " x " << rows);
    }
    BOOST_TEST((most == filling || workgroups * most <= kMostWaves * kUnits));
  }
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE tuner_stats
#include "tuner/stats.h"

#include <boost/test/unit_test.hpp>

using namespace mla::tuner;

BOOST_AUTO_TEST_CASE(the_median_of_an_even_count_is_the_middle_of_the_two) {
  BOOST_TEST(median({4, 1, 3, 2}) == 2.5);
  BOOST_TEST(median({7}) == 7);
  BOOST_TEST(median({}) == 0);
}

BOOST_AUTO_TEST_CASE(quartiles_interpolate_between_order_statistics) {
  const Quartiles spread = quartiles({1, 2, 3, 4});
  BOOST_TEST(spread.low == 1.75);
  BOOST_TEST(spread.median == 2.5);
  BOOST_TEST(spread.high == 3.25);
}

BOOST_AUTO_TEST_CASE(one_outlier_does_not_move_the_spread) {
  BOOST_TEST(median_deviation({10, 11, 12, 13, 1000}) == 1);
  BOOST_TEST(relative_spread({10, 11, 12, 13, 1000}) == 1.4826 / 12,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(relative_spread({0, 0, 0}) == 0);
}

BOOST_AUTO_TEST_CASE(the_sign_test_counts_the_upper_tail_of_fair_coins) {
  const auto close = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(sign_test_p(15, 15) == 1.0 / 32768, close);
  BOOST_TEST(sign_test_p(13, 15) == (105 + 15 + 1) / 32768.0, close);
  BOOST_TEST(sign_test_p(0, 15) == 1);
  BOOST_TEST(sign_test_p(0, 0) == 1);
}

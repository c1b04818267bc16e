// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE fp8
#include "kernels/fp8.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

using namespace mla;

BOOST_AUTO_TEST_CASE(the_numbers_of_the_ocp_format_are_where_it_has_them) {
  BOOST_TEST(fp8_to_float(0x00) == 0);
  BOOST_TEST(std::signbit(fp8_to_float(0x80)));
  BOOST_TEST(fp8_to_float(0x01) == 0x1p-9f);
  BOOST_TEST(fp8_to_float(0x07) == 7 * 0x1p-9f);
  BOOST_TEST(fp8_to_float(0x08) == 0x1p-6f);
  BOOST_TEST(fp8_to_float(0x38) == 1);
  BOOST_TEST(fp8_to_float(0xB9) == -1.125f);
  BOOST_TEST(fp8_to_float(0x7E) == 448);
  BOOST_TEST(std::isnan(fp8_to_float(0x7F)));
  BOOST_TEST(std::isnan(fp8_to_float(0xFF)));
}

BOOST_AUTO_TEST_CASE(every_number_survives_the_way_there_and_back) {
  for (int value = 0; value < 256; ++value) {
    const auto fp8 = static_cast<uint8_t>(value);
    BOOST_TEST(float_to_fp8(fp8_to_float(fp8)) == fp8);
  }
}

BOOST_AUTO_TEST_CASE(between_two_numbers_the_nearer_one_is_taken_and_at_the_middle_the_even_one) {
  for (int low = 0; low < 0x7E; ++low) {
    const float below = fp8_to_float(static_cast<uint8_t>(low));
    const float above = fp8_to_float(static_cast<uint8_t>(low + 1));
    const float middle = (below + above) / 2;
    BOOST_TEST(float_to_fp8(middle) == (low % 2 == 0 ? low : low + 1));
    BOOST_TEST(float_to_fp8(std::nextafter(middle, 0.0f)) == low);
    BOOST_TEST(float_to_fp8(std::nextafter(middle, 1000.0f)) == low + 1);
    BOOST_TEST(float_to_fp8(-middle) == (0x80 | float_to_fp8(middle)));
  }
}

BOOST_AUTO_TEST_CASE(what_is_out_of_range_becomes_the_largest_number_and_nan_stays_nan) {
  BOOST_TEST(float_to_fp8(449) == 0x7E);
  BOOST_TEST(float_to_fp8(-1e30f) == 0xFE);
  BOOST_TEST(float_to_fp8(std::numeric_limits<float>::infinity()) == 0x7E);
  BOOST_TEST(float_to_fp8(std::numeric_limits<float>::quiet_NaN()) == 0x7F);
  BOOST_TEST(float_to_fp8(1e-30f) == 0);
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE tools_parse
#include "tools/parse.h"

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"

namespace {

using namespace mla::tools;
using Numbers = std::vector<int64_t>;

template <class Function>
std::string message(Function function) {
  try {
    function();
  } catch (const mla::Error& error) {
    BOOST_TEST(static_cast<int>(error.code()) == static_cast<int>(mla::ErrorCode::kUsage));
    return error.what();
  }
  return "accepted";
}

std::string list_error(const std::string& text) {
  return message([&] { parse_list(text, 1, 65535); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_list_keeps_its_order_and_drops_repeats) {
  BOOST_TEST(parse_list("8,1,2,8", 1, 100) == Numbers({8, 1, 2}));
}

BOOST_AUTO_TEST_CASE(ranges_count_multiply_and_step) {
  BOOST_TEST(parse_list("1..4", 1, 100) == Numbers({1, 2, 3, 4}));
  BOOST_TEST(parse_list("1024:8192:x2", 1, 65536) == Numbers({1024, 2048, 4096, 8192}));
  BOOST_TEST(parse_list("8:30:+8", 1, 100) == Numbers({8, 16, 24}));
  BOOST_TEST(parse_list("1,4..6,10:20:+10", 1, 100) == Numbers({1, 4, 5, 6, 10, 20}));
}

BOOST_AUTO_TEST_CASE(a_value_outside_the_range_is_named_with_the_range) {
  BOOST_TEST(list_error("-3") == "-3 is not in 1..65535");
  BOOST_TEST(list_error("0") == "0 is not in 1..65535");
  BOOST_TEST(list_error("1,99999999999999999999999999") ==
             "99999999999999999999999999 is not in 1..65535");
}

BOOST_AUTO_TEST_CASE(anything_but_digits_is_not_a_number) {
  for (const char* text : {"", " 1", "1 ", "1e3", "0x10", "+1", "1.5", "1,,2", "1,", "eight"}) {
    BOOST_TEST(list_error(text).find("is not a whole number") != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(malformed_ranges_say_what_is_wrong) {
  BOOST_TEST(list_error("8..1") == "'8..1': the range ends before it begins");
  BOOST_TEST(list_error("1:8") == "'1:8': a range is written 1..8, 1024:65536:x2 or 8:64:+8");
  BOOST_TEST(list_error("1:8:2") == "'1:8:2': the step is written x2 or +8");
  BOOST_TEST(list_error("1:8:x1") == "1 is not in 2..16777215");
  BOOST_TEST(list_error("1:8:+0") == "0 is not in 1..16777215");
  BOOST_TEST(list_error("1..65535") == "'1..65535': more than 4096 values");
  BOOST_TEST(message([] { parse_list("0:8:x2", 0, 8); }) ==
             "'0:8:x2': a range that multiplies cannot begin at 0");
}

BOOST_AUTO_TEST_CASE(durations_have_a_unit_or_are_seconds) {
  BOOST_TEST(parse_duration_s("90s") == 90);
  BOOST_TEST(parse_duration_s("5m") == 300);
  BOOST_TEST(parse_duration_s("1h") == 3600);
  BOOST_TEST(parse_duration_s("1.5m") == 90);
  BOOST_TEST(parse_duration_s("7") == 7);
}

BOOST_AUTO_TEST_CASE(durations_that_are_none_are_refused) {
  for (const char* text : {"", "m", "5 m", "5d", "1e3s", "five"}) {
    BOOST_TEST(
        message([&] { parse_duration_s(text); }).find("is not a duration") != std::string::npos,
        text);
  }
  for (const char* text : {"0", "-5m", "inf", "nan", "2000h"}) {
    BOOST_TEST(message([&] { parse_duration_s(text); }).find("is not above 0") != std::string::npos,
               text);
  }
}

BOOST_AUTO_TEST_CASE(a_shared_prefix_has_rows_and_perhaps_a_group) {
  BOOST_TEST(parse_shared_prefix("63240/4").rows == 63240);
  BOOST_TEST(parse_shared_prefix("63240/4").group == 4);
  BOOST_TEST(parse_shared_prefix("100").group == 8);
  BOOST_TEST(parse_shared_prefix("0/4").group == 8);
  BOOST_TEST(message([] { parse_shared_prefix("100/0"); }) == "0 is not in 1..65535");
  BOOST_TEST(message([] { parse_shared_prefix("100/"); }) == "'' is not a whole number");
}

BOOST_AUTO_TEST_CASE(a_wrong_choice_names_the_right_ones_and_the_nearest) {
  BOOST_TEST(parse_choice("quick", "quick|seed") == "quick");
  BOOST_TEST(message([] { parse_choice("quik", "quick|seed"); }) ==
             "'quik' is not one of quick, seed, did you mean 'quick'?");
  BOOST_TEST(message([] { parse_choice("zzzzzz", "quick|seed"); }) ==
             "'zzzzzz' is not one of quick, seed");
}

BOOST_AUTO_TEST_CASE(hostile_text_in_a_message_is_short_and_printable) {
  const std::string text = list_error("\x1b[31m\n" + std::string(100000, 'x'));
  BOOST_TEST(text.size() < 200);
  BOOST_TEST(text.find('\x1b') == std::string::npos);
  BOOST_TEST(text.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_nearest_name_forgives_a_swap_but_not_everything) {
  const std::vector<std::string> names = {"batch", "budget", "baseline"};
  BOOST_TEST(nearest_name("bathc", names) == "batch");
  BOOST_TEST(nearest_name("budgte", names) == "budget");
  BOOST_TEST(nearest_name("x", names) == "");
}

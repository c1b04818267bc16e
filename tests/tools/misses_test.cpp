// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE tools_misses
#include "tools/misses.h"

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"

using namespace mla;
using namespace mla::tools;

namespace {

constexpr const char* kRank0 =
    "# mla-tune misses 1: all_time_us=1000.000 forgotten=2\n"
    "5\t100.500\tbatch=8 nhead=12 seq_len=68000\n"
    "90\t50.000\tbatch=4 nhead=12 seq_len=1000 page_size=64\n"
    "3\t0.000\tbatch=2 nhead=12 seq_len=0\n";
constexpr const char* kRank1 =
    "# mla-tune misses 1: all_time_us=1000.000 forgotten=1\n"
    "7\t399.500\tbatch=8 nhead=12 seq_len=67990\n";

Misses read(const std::vector<const char*>& texts) {
  MissReader reader;
  for (const char* text : texts) reader.add(text, "misses.txt");
  return reader.result();
}

void expect_refused(const std::string& text, const std::string& reason) {
  BOOST_CHECK_EXCEPTION(read({text.c_str()}), Error, [&](const Error& error) {
    BOOST_TEST(std::string(error.what()).find(reason) != std::string::npos, error.what());
    return error.code() == ErrorCode::kUsage;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(
    misses_of_several_processes_add_up_and_are_weighed_by_their_share_of_the_time) {
  const Misses misses = read({kRank0, kRank1});
  BOOST_TEST_REQUIRE(misses.shapes.size() == 3u);
  BOOST_TEST(misses.timed);
  BOOST_TEST(misses.forgotten == 3);
  BOOST_TEST(to_text(misses.shapes[0].problem) == "batch=8 nhead=12 seq_len=68000");
  BOOST_TEST(misses.shapes[0].count == 12);
  BOOST_TEST(misses.shapes[0].share == 0.25);
  BOOST_TEST(misses.shapes[1].problem.page_size == 64);
  BOOST_TEST(misses.shapes[1].share == 0.025);
}

BOOST_AUTO_TEST_CASE(without_times_the_counts_weigh) {
  const Misses misses =
      read({"# mla-tune misses 1: all_time_us=0.000 forgotten=10\n"
            "30\t0.000\tbatch=8 nhead=12 seq_len=68000\n"
            "60\t0.000\tbatch=4 nhead=12 seq_len=68000\n"});
  BOOST_TEST(!misses.timed);
  BOOST_TEST(misses.shapes[0].problem.batch == 4);
  BOOST_TEST(misses.shapes[0].share == 0.6);
}

BOOST_AUTO_TEST_CASE(the_list_is_read_back_as_the_shapes_of_known_length_in_its_order) {
  const std::string text = shapes_text(read({kRank0, kRank1}));
  const std::vector<Problem> problems = parse_shapes(text, "shapes.txt");
  BOOST_TEST_REQUIRE(problems.size() == 2u);
  BOOST_TEST(to_text(problems[0]) == "batch=8 nhead=12 seq_len=68000");
  BOOST_TEST(to_text(problems[1]) == "batch=4 nhead=12 seq_len=1000 page_size=64");
  BOOST_TEST(text.find("# batch=2 nhead=12 seq_len=0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_list_of_misses_is_named_with_its_line) {
  const std::string header = "# mla-tune misses 1: all_time_us=0.000 forgotten=0\n";
  expect_refused("batch=8 nhead=12 seq_len=1\n", "misses.txt: does not begin with");
  expect_refused("# mla-tune misses 1: all_time_us=-1 forgotten=0\n", "misses.txt:1: '-1'");
  expect_refused("# mla-tune misses 1: forgotten=0\n", "misses.txt:1: 'forgotten=0'");
  expect_refused(header + "x\t0.000\tbatch=8 nhead=12 seq_len=1\n", "misses.txt:2: 'x'");
  expect_refused(header + "1\tnan\tbatch=8 nhead=12 seq_len=1\n", "misses.txt:2: 'nan'");
  // Two of these would not add up to a number.
  expect_refused(header + "9223372036854775807\t0.000\tbatch=8 nhead=12 seq_len=1\n",
                 "is not a count");
  expect_refused(header + "1\t1e308\tbatch=8 nhead=12 seq_len=1\n", "is not a time");
  expect_refused(header + "1\t0.000\tbatch=8\n", "misses.txt:2: a problem needs");
}

BOOST_AUTO_TEST_CASE(a_list_of_shapes_without_a_shape_or_with_an_unknown_length_is_refused) {
  BOOST_CHECK_THROW(parse_shapes("# nothing\n\n", "s"), Error);
  BOOST_CHECK_THROW(parse_shapes("batch=8 nhead=12 seq_len=0\n", "s"), Error);
  BOOST_TEST(parse_shapes("batch=8 nhead=12 seq_len=5  # why\n", "s").size() == 1u);
}

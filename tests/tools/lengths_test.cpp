// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE tools_lengths
#include "tools/lengths.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "kernels/error.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::tools;

namespace {

struct Fixture {
  std::vector<tuner::LengthShare> read(const std::string& text) const {
    std::ofstream(file) << text;
    return read_lengths(file);
  }

  testing::TemporaryDirectory directory;
  std::string file = directory.file("lengths.txt");
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_octave_of_a_histogram_becomes_the_mean_of_its_requests, Fixture) {
  const auto lengths = read("# rows requests\n1100 1\n1500 3  # the usual\n\n9000 4\n");
  BOOST_TEST_REQUIRE(lengths.size() == 2u);
  BOOST_TEST(lengths[0].seq_len == 1400);
  BOOST_TEST(lengths[0].share == 0.5);
  BOOST_TEST(lengths[1].seq_len == 9000);
  BOOST_TEST(lengths[1].share == 0.5);
}

BOOST_FIXTURE_TEST_CASE(a_line_that_is_none_is_named, Fixture) {
  for (const char* line : {"many 3", "3", "0 5", "7 0", "7 1 1", "16777216 1"}) {
    BOOST_CHECK_EXCEPTION(read(std::string("100 1\n") + line + "\n"), Error, [&](const Error& e) {
      return e.code() == ErrorCode::kUsage && std::string(e.what()).find(file + ":2: ") == 0;
    });
  }
  BOOST_CHECK_THROW(read("# nothing\n"), Error);
  BOOST_CHECK_THROW(read_lengths(directory.file("missing")), Error);
}

BOOST_AUTO_TEST_CASE(without_a_file_the_lengths_of_the_run_or_the_declared_ones_are_taken) {
  Options options;
  BOOST_TEST(chosen_lengths(options).empty());
  options.unknown_length = true;
  BOOST_TEST(chosen_lengths(options).size() == 8u);
  options.seq_len = {512, 700};
  BOOST_TEST(chosen_lengths(options)[1].seq_len == 700);
  options.lengths = "histogram.txt";
  BOOST_CHECK_THROW(chosen_lengths(options), Error);
}

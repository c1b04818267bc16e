// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE tools_options
#include "tools/options.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "kernels/error.h"

namespace {

using namespace mla::tools;
using Words = std::vector<std::string>;

std::string error_of(const Words& args) {
  try {
    parse_options(args);
  } catch (const mla::Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_way_to_write_an_option_is_the_same) {
  for (const Words& args : {Words{"run", "--batch", "1,2"}, Words{"run", "--batch=1,2"}}) {
    BOOST_TEST(parse_options(args).batch == std::vector<int64_t>({1, 2}));
  }
  BOOST_TEST(parse_options({"report", "-o", "x"}).output == "x");
  BOOST_TEST(parse_options({"report", "--output=x"}).output == "x");
}

BOOST_AUTO_TEST_CASE(a_negative_number_is_a_value_and_no_option) {
  BOOST_TEST(error_of({"run", "--batch", "-3"}) == "--batch: -3 is not in 1..65535");
  BOOST_TEST(error_of({"run", "--batch=-3"}) == "--batch: -3 is not in 1..65535");
}

BOOST_AUTO_TEST_CASE(abbreviations_are_unknown_options) {
  BOOST_TEST(error_of({"run", "--bud", "7"}).find("--bud: unknown option") == 0);
}

BOOST_AUTO_TEST_CASE(a_typo_gets_the_nearest_option_of_its_verb) {
  BOOST_TEST(error_of({"run", "--bathc", "1"}) ==
             "--bathc: unknown option, did you mean '--batch'?");
  BOOST_TEST(error_of({"rnu"}) == "'rnu' is not a verb, did you mean 'run'?; see mla-tune --help");
}

BOOST_AUTO_TEST_CASE(an_option_of_another_verb_says_so) {
  BOOST_TEST(error_of({"lookup", "--budget", "5m"}) ==
             "--budget: not an option of 'lookup'; see mla-tune lookup --help");
}

BOOST_AUTO_TEST_CASE(values_are_required_where_there_is_one_and_refused_where_there_is_none) {
  BOOST_TEST(error_of({"run", "--batch"}) == "--batch: needs a value");
  BOOST_TEST(error_of({"run", "--db="}) != "accepted");
  BOOST_TEST(error_of({"run", "--json=yes"}) == "--json: takes no value");
}

BOOST_AUTO_TEST_CASE(an_option_given_twice_is_an_error_unless_it_repeats) {
  BOOST_TEST(error_of({"run", "--batch", "1", "--batch", "2"}) == "--batch: given twice");
  BOOST_TEST(parse_options({"lookup", "--db", "a", "--db", "b"}).databases == Words({"a", "b"}));
}

BOOST_AUTO_TEST_CASE(arguments_that_nobody_uses_are_errors) {
  BOOST_TEST(error_of({"run", "fast"}) == "unexpected argument 'fast'; see mla-tune run --help");
  BOOST_TEST(error_of({"db", "info", "check"}) ==
             "unexpected argument 'check'; see mla-tune db --help");
  BOOST_TEST(error_of({"db"}) ==
             "needs one of info, check, ship, export, import, merge, diff, prune, migrate, miss");
  BOOST_TEST(
      error_of({"db", "chekc"}) ==
      "'chekc' is not one of info, check, ship, export, import, merge, diff, prune, migrate, "
      "miss, did you mean 'check'?");
}

BOOST_AUTO_TEST_CASE(values_are_checked_while_parsing) {
  BOOST_TEST(error_of({"run", "--page-size", "8"}) == "--page-size: 8 is not one of 1, 16, 64");
  BOOST_TEST(error_of({"run", "--kv-dtype", "fp4"}) ==
             "--kv-dtype: 'fp4' is not one of bf16, fp8, did you mean 'fp8'?");
  BOOST_TEST(
      error_of({"run", "--preset", "quik"}) ==
      "--preset: 'quik' is not one of quick, seed, serving, grid, roof, did you mean 'quick'?");
  BOOST_TEST(error_of({"bench", "--config", "spltis=3"}).find("--config: unknown knob") == 0);
  BOOST_TEST(error_of({"run", "--rounds", "14"}) == "--rounds: 14 is not in 15..60");
}

BOOST_AUTO_TEST_CASE(the_command_line_is_kept_in_a_form_that_a_shell_reads_back) {
  BOOST_TEST(parse_options({"run", "--config", "splits=3 wait=drain"}).command_line ==
             "mla-tune run --config 'splits=3 wait=drain'");
  BOOST_TEST(shell_quoted({"it's", ""}) == "'it'\\''s' ''");
}

BOOST_AUTO_TEST_CASE(help_of_a_verb_names_each_of_its_options_and_no_other) {
  for (const VerbSpec& verb : verb_table()) {
    const std::string whole = help_text(verb.verb, kHelpWidth);
    const std::string text = whole.substr(0, whole.find("Exit status"));
    std::set<std::string> expected;
    for (const OptionSpec& option : option_table()) {
      if (takes(verb.verb, option)) expected.insert(synopsis(option));
    }
    for (const OptionSpec& option : option_table()) {
      // As an option of its own: texts of others may name it too.
      const std::string entry = "\n  " + synopsis(option);
      const bool listed = text.find(entry + "  ") != std::string::npos ||
                          text.find(entry + "\n") != std::string::npos;
      BOOST_TEST(listed == (expected.count(synopsis(option)) == 1), verb.name << " " << entry);
    }
    BOOST_TEST(text.size() < whole.size(), "no exit status");
  }
}

BOOST_AUTO_TEST_CASE(no_verb_takes_two_options_of_one_name) {
  for (const VerbSpec& verb : verb_table()) {
    std::set<std::string> names;
    for (const OptionSpec& option : option_table()) {
      BOOST_TEST(option.apply != nullptr, option.name);
      if (takes(verb.verb, option)) BOOST_TEST(names.insert(option.name).second, option.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_option_means_what_its_verb_takes_it_for) {
  BOOST_TEST(parse_options({"space", "--budget"}).loop_budget);
  BOOST_TEST(error_of({"space", "--budget=5m"}) == "--budget: takes no value");
  const Options run = parse_options({"run", "--budget", "5m"});
  BOOST_TEST(run.budget_s == 300);
  BOOST_TEST(!run.loop_budget);
}

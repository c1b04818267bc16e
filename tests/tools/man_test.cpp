// SPDX-License-Identifier: MIT
// Help texts, manual page and completion name the same verbs and options; pages of Markdown and of
// headers hold what their origin does.
#define BOOST_TEST_MODULE tools_man
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "kernels/error.h"
#include "tests/tools/program.h"
#include "tools/man/pages.h"
#include "tools/options.h"
#include "tools/paths.h"

namespace {

using namespace mla::tools;
using Names = std::set<std::string>;

const PageTitle kTitle = {"mla-tune", 1, "one line", "1.2.3"};

// The words behind every "--" of the text.
Names options_in(const std::string& text) {
  Names names;
  for (size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + 2);
    if (end > at + 2) names.insert(text.substr(at + 2, end - at - 2));
  }
  return names;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  BOOST_REQUIRE_MESSAGE(begin != std::string::npos, from);
  const size_t end = text.find(to, begin + from.size());
  return text.substr(begin, end - begin);
}

Names names_of(const VerbSpec& verb) {
  Names names;
  for (const OptionSpec& option : option_table()) {
    if (takes(verb.verb, option)) names.insert(option.name);
  }
  return names;
}

// The options in front of the texts: the first column of the help.
Names help_options(const VerbSpec& verb) {
  Names names;
  const std::string text = help_text(verb.verb, kHelpWidth);
  for (const std::string& line : split(text, '\n')) {
    const bool lists_option = line.starts_with("      --") || line.starts_with("  -");
    if (lists_option) names.merge(options_in(line.substr(0, line.find(' ', line.find("--")))));
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(help_manual_page_and_completion_name_the_same_options_of_every_verb) {
  const std::string page = program_page(kTitle);
  const std::string bash = mla::testing::run({"completion", "bash"}).out;
  const std::string fish = mla::testing::run({"completion", "fish"}).out;
  const std::string zsh = mla::testing::run({"completion", "zsh"}).out;
  for (const VerbSpec& verb : verb_table()) {
    const std::string name = verb.name;
    const Names expected = names_of(verb);
    BOOST_TEST(help_options(verb) == expected, boost::test_tools::per_element());
    BOOST_TEST(options_in(between(page, "## " + escaped(usage_line(verb)), "\n```")) == expected,
               boost::test_tools::per_element());
    const std::string bash_case =
        between(bash.substr(bash.find("case ${COMP_WORDS[1]}")), "\n    " + name + ") ", ";;");
    BOOST_TEST(options_in(between(bash_case, "-W '", "'")) == expected,
               boost::test_tools::per_element());
    const std::string zsh_case =
        between(zsh.substr(zsh.find("case $verb")), "\n    " + name + ") ", ";;");
    for (const std::string& option : expected) {
      BOOST_TEST(zsh_case.find("--" + option) != std::string::npos, name << " " << option);
      BOOST_TEST(fish.find("'__fish_seen_subcommand_from " + name + "' -l " + option + " ") !=
                     std::string::npos,
                 name << " " << option);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_manual_page_describes_each_option_once_with_its_verbs) {
  const std::string options = between(program_page(kTitle), "# OPTIONS", "# LISTS");
  for (const OptionSpec& option : option_table()) {
    const std::string text = escaped(option.text);
    const size_t first = options.find(text);
    BOOST_REQUIRE_MESSAGE(first != std::string::npos, option.name);
    BOOST_TEST(options.find("\t" + text, first) == std::string::npos, option.name);
    const std::string line = options.substr(first, options.find('\n', first) - first);
    for (const VerbSpec& verb : verb_table()) {
      if (!takes(verb.verb, option) || line.find("every verb") != std::string::npos) continue;
      BOOST_TEST(line.find(std::string("*").append(verb.name).append("*")) != std::string::npos,
                 line);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_manual_page_has_every_exit_status_and_variable) {
  const std::string page = program_page(kTitle);
  for (const auto& table : {exit_status_table(), environment_table()}) {
    for (const HelpEntry& entry : table) {
      BOOST_TEST(page.find(escaped(entry.text)) != std::string::npos, entry.term);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_page_of_markdown_keeps_lists_tables_and_code) {
  const std::string page =
      markdown_page(kTitle,
                    "# Title\n\nSome `code_name` and\n[a link](x.md).\n\n"
                    "## Part\n\n- one\n  more\n- two\n\n1. first\n2. second\n\n"
                    "| a | b |\n|---|---|\n| 1 | x_y |\n\n    literal *text*\n");
  BOOST_TEST(page.find("Some *code\\_name* and a link.\n") != std::string::npos, page);
  BOOST_TEST(page.find("# PART\n") != std::string::npos);
  BOOST_TEST(page.find("- one more\n- two\n") != std::string::npos, page);
  BOOST_TEST(page.find(". first\n. second\n") != std::string::npos, page);
  BOOST_TEST(page.find("[[ a\n:< b\n|  1\n:  x\\_y\n") != std::string::npos, page);
  BOOST_TEST(page.find("```\nliteral \\*text\\*\n```\n") != std::string::npos, page);
  BOOST_CHECK_THROW(markdown_page(kTitle, "### deeper\n"), mla::Error);
}

BOOST_AUTO_TEST_CASE(a_page_of_a_header_has_every_function_with_its_comment) {
  const std::string text = read_file(MLA_SOURCE_DIR "/policy/mla_policy.h");
  const std::string page =
      header_page({"mla_policy", 3, "one line", "1.2.3"}, {{"mla_policy.h", text}});
  size_t functions = 0;
  for (size_t at = text.find("MLA_POLICY_API "); at != std::string::npos;
       at = text.find("MLA_POLICY_API ", at + 1)) {
    if (text[at - 1] != '\n') continue;  // the macro itself
    const size_t end = text.find('(', at);
    const size_t begin = text.rfind(' ', end) + 1;
    BOOST_TEST(page.find(escaped(text.substr(begin, end - begin)) + "(") != std::string::npos);
    ++functions;
  }
  BOOST_TEST(functions > 10U);
  BOOST_TEST(page.find("Equal for policies that answer every shape alike") != std::string::npos);
  BOOST_TEST(page.find("SPDX") == std::string::npos);
  BOOST_TEST(page.find("#define") == std::string::npos);
}

// SPDX-License-Identifier: MIT
// mla-tune(1): each verb with its options, each option once.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/man/pages.h"
#include "tools/options.h"

namespace mla::tools {
namespace {

constexpr std::string_view kDescription =
    "mla-tune measures which launch configuration of MLA decode attention is fastest for each "
    "shape on a device, keeps every measurement in an SQLite file, and answers from it at run "
    "time. A winner replaces the default only if it wins a sign test over paired rounds by 0.5 % "
    "or more; that the default is best is an answer too.\n"
    "\n"
    "Results go to standard output, progress and warnings to standard error. An interrupted *run* "
    "continues where it stopped, and the same run twice measures nothing.\n";

constexpr std::string_view kSeeAlso = "*mla-tune.db*(5), *mla_policy*(3), *mla_decode*(3)\n";

std::string bold_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "*" : ", *") + word + "*";
  return text;
}

std::string verb_text(const VerbSpec& verb) {
  std::vector<std::string> options;
  for (const OptionSpec& option : option_table()) {
    if (takes(verb.verb, option)) options.push_back("--" + escaped(option.name));
  }
  return fmt::format("## {}\n\n{}.\n\nOptions: {}\n\n```\n{}\n```\n\n",
                     escaped(usage_line(verb)),
                     escaped(verb.text),
                     bold_words(options),
                     verb.example);
}

std::string option_text(const OptionSpec& option) {
  std::vector<std::string> verbs;
  for (const VerbSpec& verb : verb_table()) {
    if (takes(verb.verb, option)) verbs.emplace_back(verb.name);
  }
  std::string term = fmt::format("*--{}*", escaped(option.name));
  if (option.letter != 0) term = fmt::format("*-{}*, {}", option.letter, term);
  if (*option.value != '\0') term = fmt::format("{} {}", term, escaped(option.value));
  return fmt::format("{}\n\t{}{}. Of {}.\n\n",
                     term,
                     escaped(option.text),
                     option.repeats ? " (repeatable)" : "",
                     verbs.size() == verb_table().size() ? "every verb" : bold_words(verbs));
}

// One heading a group, in the order in which the table first names it.
std::string options_text() {
  std::vector<std::string_view> groups;
  std::string text;
  for (const OptionSpec& first : option_table()) {
    if (std::find(groups.begin(), groups.end(), first.group) != groups.end()) continue;
    groups.emplace_back(first.group);
    text += fmt::format("## {}\n\n", first.group);
    for (const OptionSpec& option : option_table()) {
      if (first.group == std::string_view(option.group)) text += option_text(option);
    }
  }
  return text;
}

std::string entries_text(std::span<const HelpEntry> entries) {
  std::string text;
  for (const HelpEntry& entry : entries) {
    text += fmt::format("*{}*\n\t{}\n\n", escaped(entry.term), escaped(entry.text));
  }
  return text;
}

}  // namespace

std::string program_page(const PageTitle& title) {
  std::string text = page_head(title);
  text +=
      fmt::format("# SYNOPSIS\n\n*mla-tune* VERB [options]\n\n# DESCRIPTION\n\n{}\n", kDescription);
  text += "# VERBS\n\n";
  for (const VerbSpec& verb : verb_table()) text += verb_text(verb);
  text += "# OPTIONS\n\n" + options_text();
  text += "# LISTS\n\n" + entries_text(list_table());
  text += "# ENVIRONMENT\n\n" + entries_text(environment_table());
  text += "# EXIT STATUS\n\n" + entries_text(exit_status_table());
  return text + fmt::format("# SEE ALSO\n\n{}", kSeeAlso);
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// The help texts, written from the tables.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/options.h"

namespace mla::tools {
namespace {

constexpr std::string_view kExitStatus =
    "Exit status\n"
    "  0    done\n"
    "  1    a negative answer: lookup --strict without a database hit, db check with damage,\n"
    "       db diff with differences, compare with a verdict of --fail-on, a shape that could\n"
    "       not be measured, verify with a winner that lost or could not be measured, evaluate\n"
    "       with an answer slower than the default\n"
    "  2    usage: an option, value, preset, device spec or input file that cannot be understood\n"
    "  3    no usable device\n"
    "  4    database: locked, corrupt, foreign, newer schema, full disk, read-only\n"
    "  5    stopped early by --budget; what was measured is saved\n"
    "  70   internal error, or standard output that cannot be written\n"
    "  130  SIGINT, 143 SIGTERM: what was measured is saved\n";

constexpr std::string_view kLists =
    "Lists\n"
    "  1,2,8   1..8   1024:65536:x2 (doubling)   8:64:+8 (steps of 8)\n";

constexpr std::string_view kEnvironment =
    "Environment\n"
    "  MLA_TUNE_DB    database without --db; several joined by ':' for lookup, the last one is\n"
    "                 written. Else $XDG_DATA_HOME/mla-tune/tuning.db, else\n"
    "                 ~/.local/share/mla-tune/tuning.db\n"
    "  NO_COLOR, CLICOLOR_FORCE, COLUMNS, TERM, CI   as usual\n";

std::string synopsis(const OptionSpec& option) {
  std::string text = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "    ";
  text += fmt::format("--{}", option.name);
  if (*option.value != '\0') text += fmt::format(" {}", option.value);
  return text;
}

std::string option_lines(Verb verb) {
  size_t width = 0;
  for (const OptionSpec& option : option_table()) {
    if (takes(verb, option)) width = std::max(width, synopsis(option).size());
  }
  std::string text;
  std::string_view group;
  for (const OptionSpec& option : option_table()) {
    if (!takes(verb, option)) continue;
    if (group != option.group) {
      group = option.group;
      text += fmt::format("\n{}\n", group);
    }
    text += fmt::format("  {:<{}}  {}{}\n",
                        synopsis(option),
                        width,
                        option.text,
                        option.repeats ? " (repeatable)" : "");
  }
  return text;
}

bool takes_lists(Verb verb) {
  const auto table = option_table();
  return std::any_of(table.begin(), table.end(), [&](const OptionSpec& option) {
    return takes(verb, option) && std::string_view(option.value) == "LIST";
  });
}

}  // namespace

std::string overview_text() {
  std::string text =
      "mla-tune measures launch configurations for MLA decode attention and looks up the "
      "winners.\n\n"
      "usage: mla-tune VERB [options]\n\nVerbs\n";
  for (const VerbSpec& spec : verb_table())
    text += fmt::format("  {:<11} {}\n", spec.name, spec.text);
  text += "\nmla-tune VERB --help shows the options of a verb.\n\n";
  return text + std::string(kEnvironment) + "\n" + std::string(kExitStatus);
}

std::string help_text(Verb verb) {
  const VerbSpec& spec = spec_of(verb);
  std::string action = spec.actions;
  if (!action.empty() && !spec.needs_action) action = fmt::format("[{}]", action);
  if (action.empty()) action = spec.operands;
  if (!action.empty()) action += ' ';
  std::string text = fmt::format("mla-tune {}: {}\n\nusage: mla-tune {} {}[options]\n",
                                 spec.name,
                                 spec.text,
                                 spec.name,
                                 action);
  text += option_lines(verb);
  if (takes_lists(verb)) text += "\n" + std::string(kLists);
  return text + "\n" + std::string(kExitStatus) + fmt::format("\nExample\n  {}\n", spec.example);
}

}  // namespace mla::tools

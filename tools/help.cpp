// SPDX-License-Identifier: MIT
// The help texts, written from the tables.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/options.h"

namespace mla::tools {
namespace {

// A longer term has its text on the next line.
constexpr size_t kTermWidth = 30;   // of options
constexpr size_t kEntryWidth = 20;  // of facts

constexpr HelpEntry kExitStatus[] = {
    {"0", "done"},
    {"1",
     "a negative answer: lookup --strict without a database hit, db check with damage, db diff "
     "with differences, compare with a verdict of --fail-on, a shape that could not be measured, "
     "verify with a winner that lost or could not be measured, evaluate with an answer slower than "
     "the default, doctor with a problem"},
    {"2", "usage: an option, value, preset, device spec or input file that cannot be understood"},
    {"3", "no usable device"},
    {"4", "database: locked, corrupt, foreign, newer schema, full disk, read-only"},
    {"5", "stopped early by --budget; what was measured is saved"},
    {"70", "internal error, or standard output that cannot be written"},
    {"130, 143", "SIGINT, SIGTERM; what was measured is saved"},
};

constexpr HelpEntry kEnvironment[] = {
    {"MLA_TUNE_DB",
     "database without --db; several joined by ':', of which later ones win and the last one is "
     "written. Else mla-tune/tuned.db of $XDG_DATA_DIRS and of the installed share/, below "
     "$XDG_DATA_HOME/mla-tune/tuning.db (~/.local/share/mla-tune/tuning.db), which is written. "
     "sweep and bench --preset roof read --db alone"},
    {"MLA_TUNE_MODE",
     "library: off answers the default; deterministic holds the splits, so that a result does not "
     "depend on its batch"},
    {"MLA_TUNE_PIN", "library: knobs to hold in every answer, 'splits=32 wait=partial'"},
    {"NO_COLOR, CLICOLOR_FORCE", "no colour; colour also where no terminal is"},
    {"COLUMNS, TERM, CI", "width of a terminal that does not tell; dumb, or any CI: no live line"},
};

constexpr HelpEntry kLists[] = {
    {"1,2,8", "these"},
    {"1..8", "all from 1 to 8"},
    {"1024:65536:x2", "doubling"},
    {"8:64:+8", "in steps of 8"},
};

// "  term   text", the text in a column of its own.
std::string entry_text(const std::string& term,
                       const std::string& text,
                       size_t term_width,
                       size_t width) {
  const size_t column = 2 + term_width + 2;
  std::string line = "  " + term;
  if (term.size() > term_width) {
    line += '\n' + std::string(column, ' ');
  } else {
    line.resize(column, ' ');
  }
  return wrapped({.width = width}, line + text, column) + '\n';
}

std::string entries_text(const char* title, std::span<const HelpEntry> entries, size_t width) {
  size_t term_width = 0;
  for (const HelpEntry& entry : entries) {
    term_width = std::max(term_width, std::string_view(entry.term).size());
  }
  term_width = std::min(term_width, kEntryWidth);
  std::string text = std::string(title) + '\n';
  for (const HelpEntry& entry : entries) {
    text += entry_text(entry.term, entry.text, term_width, width);
  }
  return text;
}

std::string option_lines(Verb verb, size_t width) {
  size_t term_width = 0;
  for (const OptionSpec& option : option_table()) {
    if (takes(verb, option)) term_width = std::max(term_width, synopsis(option).size());
  }
  term_width = std::min(term_width, kTermWidth);
  std::string text;
  std::string_view group;
  for (const OptionSpec& option : option_table()) {
    if (!takes(verb, option)) continue;
    if (group != option.group) {
      group = option.group;
      text += fmt::format("\n{}\n", group);
    }
    text += entry_text(synopsis(option),
                       std::string(option.text) + (option.repeats ? " (repeatable)" : ""),
                       term_width,
                       width);
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

std::span<const HelpEntry> exit_status_table() {
  return kExitStatus;
}
std::span<const HelpEntry> environment_table() {
  return kEnvironment;
}
std::span<const HelpEntry> list_table() {
  return kLists;
}

std::string synopsis(const OptionSpec& option) {
  std::string text = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "    ";
  text += fmt::format("--{}", option.name);
  if (*option.value != '\0') text += fmt::format(" {}", option.value);
  return text;
}

std::string usage_line(const VerbSpec& verb) {
  std::string action = verb.actions;
  if (!action.empty() && !verb.needs_action) action = fmt::format("[{}]", action);
  if (action.empty()) action = verb.operands;
  if (!action.empty()) action += ' ';
  return fmt::format("mla-tune {} {}[options]", verb.name, action);
}

std::string overview_text(size_t width) {
  std::string text = wrapped(
      {.width = width},
      "mla-tune measures launch configurations for MLA decode attention and looks up the winners.",
      0);
  text += "\n\nusage: mla-tune VERB [options]\n\nVerbs\n";
  for (const VerbSpec& spec : verb_table()) text += entry_text(spec.name, spec.text, 11, width);
  text += "\nmla-tune VERB --help shows the options of a verb.\n\n";
  return text + entries_text("Environment", kEnvironment, width) + '\n' +
         entries_text("Exit status", kExitStatus, width);
}

std::string help_text(Verb verb, size_t width) {
  const VerbSpec& spec = spec_of(verb);
  const Terminal page = {.width = width};
  std::string text = wrapped(page, fmt::format("mla-tune {}: {}", spec.name, spec.text), 2) +
                     "\n\n" + wrapped(page, "usage: " + usage_line(spec), 2) + '\n';
  text += option_lines(verb, width);
  if (takes_lists(verb)) text += '\n' + entries_text("Lists", kLists, width);
  text += '\n' + entries_text("Exit status", kExitStatus, width);
  return text + "\nExample\n  " + wrapped_command(page, spec.example, 2) + '\n';
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// What a person sees on terminals of 60, 80 and 200 columns, and what goes into a pipe.
#define BOOST_TEST_MODULE tools_terminal
#include "tests/tools/terminal.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"
#include "tools/term.h"

namespace {

using namespace mla::testing;
using Words = std::vector<std::string>;

constexpr int kWidths[] = {60, 80, 200};

// A database with two tuned shapes.
struct Tuned {
  TemporaryDirectory directory;
  std::string path = directory.file("a.db");
  std::map<std::string, std::string> environment = {{"HOME", directory.path().string()}};

  Words run_words() const {
    return {"run", "--device", "analytic", "--batch", "1,24", "--seq-len", "68000", "--db", path};
  }
  Words with(Words words) const {
    words.insert(words.end(), {"--device", "analytic", "--db", path});
    return words;
  }
  Screen run_on(int columns) const { return on_terminal(run_words(), columns, environment); }
};

std::string joined(const Screen& screen) {
  std::string text;
  for (const std::string& line : screen.lines) text += line + "\n";
  return text;
}

// The suggested commands, as a shell would read them: continued lines joined, blanks once.
std::vector<std::string> next_commands(const Screen& screen) {
  std::vector<std::string> commands;
  bool listed = false, continued = false;
  for (std::string line : screen.lines) {
    listed = listed || line.starts_with("next: ");
    if (!listed) continue;
    if (line.starts_with("next: ")) line.erase(0, 6);
    line.erase(0, line.find_first_not_of(' '));
    if (continued) {
      commands.back() += " " + line;
    } else if (line.starts_with("mla-tune ")) {
      commands.push_back(line);
    } else {
      break;
    }
    continued = line.ends_with(" \\");
    if (continued) commands.back().resize(commands.back().size() - 2);
  }
  return commands;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_that_a_verb_prints_is_wider_than_the_terminal) {
  const Tuned tuned;
  BOOST_REQUIRE(mla::testing::run(tuned.run_words()).status == 0);
  const Words verbs[] = {{"--help"},
                         {"run", "--help"},
                         {"db", "--help"},
                         tuned.with({"lookup", "--batch", "24", "--seq-len", "68000", "--explain"}),
                         tuned.with({"verify"}),
                         tuned.with({"evaluate", "--shapes", "2"}),
                         tuned.with({"run", "--batch", "1,24", "--seq-len", "68000", "--dry-run"}),
                         tuned.with({"doctor"}),
                         {"space", "--device", "analytic", "--batch", "8", "--seq-len", "68000"},
                         {"db", "check", "--db", tuned.path},
                         {"db", "info", "--db", tuned.path, "--db", tuned.path, "-v"},
                         {"compare", tuned.path, tuned.path},
                         {"devices"}};
  for (const Words& verb : verbs) {
    for (const int columns : kWidths) {
      const Screen screen = on_terminal(verb, columns, tuned.environment);
      BOOST_TEST(screen.status == 0, verb.front() << ": " << joined(screen));
      BOOST_TEST(screen.widest <= static_cast<size_t>(columns),
                 verb.front() << " at " << columns << ":\n"
                              << joined(screen));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_shows_a_line_that_fits_and_takes_it_away) {
  for (const int columns : kWidths) {
    const Tuned tuned;
    const Screen screen = tuned.run_on(columns);
    BOOST_TEST(screen.status == 0, joined(screen));
    BOOST_TEST(screen.cursor_moved);
    BOOST_TEST(screen.raw.find("ETA ") != std::string::npos);
    for (const std::string& line : screen.lines) {
      // The one word that may be longer, so that it can be copied.
      if (line.find("--config '") != std::string::npos) continue;
      BOOST_TEST(line.size() <= static_cast<size_t>(columns), line);
    }
    BOOST_TEST(screen.widest_rewritten < static_cast<size_t>(columns));
    BOOST_TEST(joined(screen).find("ETA ") == std::string::npos, joined(screen));
    BOOST_TEST(joined(screen).find("geomean ") != std::string::npos, joined(screen));
  }
}

BOOST_AUTO_TEST_CASE(the_next_commands_are_the_same_at_every_width) {
  const Tuned tuned;
  const std::vector<std::string> wide = next_commands(tuned.run_on(200));
  BOOST_REQUIRE(wide.size() == 3U);
  BOOST_TEST(wide[0] == "mla-tune report --db " + tuned.path + " --html report.html");
  // The second run measures nothing and suggests the same.
  BOOST_TEST(next_commands(tuned.run_on(60)) == wide, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_pipe_gets_whole_lines_without_colours_or_cursor) {
  const Tuned tuned;
  const ProgramResult result =
      mla::testing::run(tuned.run_words(), {.environment = {{"COLUMNS", "60"}, {"TERM", "xterm"}}});
  BOOST_TEST(result.status == 0);
  for (const std::string& text : {result.out, result.err}) {
    BOOST_TEST(text.find('\033') == std::string::npos);
    BOOST_TEST(text.find('\r') == std::string::npos);
  }
  const size_t row = result.out.find("\n    1    68000  ");
  BOOST_REQUIRE(row != std::string::npos);
  const std::string line = result.out.substr(row + 1, result.out.find('\n', row + 1) - row - 1);
  BOOST_TEST(line.find("splits=") != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(no_color_ci_and_a_dumb_terminal_are_honoured) {
  const Tuned tuned;
  const auto run_with = [&](const char* name, const char* value) {
    std::map<std::string, std::string> environment = tuned.environment;
    environment[name] = value;
    Words words = tuned.run_words();
    words.push_back("--retune");
    return on_terminal(words, 80, environment);
  };
  BOOST_TEST(run_with("LANG", "C").coloured);
  BOOST_TEST(!run_with("NO_COLOR", "1").coloured);
  BOOST_TEST(!run_with("CI", "1").cursor_moved);
  const Screen dumb = run_with("TERM", "dumb");
  BOOST_TEST(!dumb.cursor_moved);
  BOOST_TEST(!dumb.coloured);
}

BOOST_AUTO_TEST_CASE(lines_break_at_blanks_and_a_long_word_stays_whole) {
  using namespace mla::tools;
  const Terminal narrow = {.width = 12};
  BOOST_TEST(wrapped(narrow, "one two three four", 2) == "one two\n  three four");
  BOOST_TEST(wrapped(narrow, "a /quite/a/long/path b", 2) == "a\n  /quite/a/long/path\n  b");
  BOOST_TEST(wrapped({}, "one two three four", 2) == "one two three four");
  BOOST_TEST(wrapped_command(narrow, "x --a 1 --b '1 --c'", 0) == "x --a 1 \\\n    --b '1 --c'");
}

BOOST_AUTO_TEST_CASE(a_table_that_does_not_fit_continues_its_rows_below) {
  using namespace mla::tools;
  Table table;
  table.column("shape");
  table.column("us", Table::Align::kRight);
  table.column("config");
  table.row({"batch=1", "12.0", "splits=105 tile_n=64 stages=2"});
  BOOST_TEST(table.text({.width = 24}) ==
             "shape      us\n"
             "    config\n"
             "batch=1  12.0\n"
             "    splits=105 tile_n=64\n"
             "    stages=2\n");
  BOOST_TEST(table.text({.width = 40}) ==
             "shape      us  config\n"
             "batch=1  12.0  splits=105 tile_n=64\n"
             "               stages=2\n");
}

// SPDX-License-Identifier: MIT
// What the output goes to (terminal or not, colour, width), and tables of text. The live progress
// line is in progress.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace mla::tools {

enum class Color { kAuto, kAlways, kNever };

struct Terminal {
  bool live = false;  // a line may be rewritten in place
  bool color = false;
  size_t width = 0;  // columns; 0: no terminal, a line is as long as it is
};

bool environment_set(const char* name);  // and not to nothing

// NO_COLOR, CLICOLOR_FORCE, TERM, CI and COLUMNS as users expect them; the flag beats them all.
Terminal inspect(std::FILE* stream, Color color);

// Lines that are wider than the terminal, broken at blanks; what follows a break begins in column
// `indent`. A word that is longer than a line stays whole, so that paths can be copied.
std::string wrapped(const Terminal& terminal, const std::string& text, size_t indent);
// A command broken before its options, in a form that a shell still reads as one.
std::string wrapped_command(const Terminal& terminal, const std::string& command, size_t indent);

// For messages beside the result: one that cannot be written is lost and ends nothing.
void say(std::FILE* stream, const std::string& text);
// The same in lines that fit, where the stream is a terminal; not for commands to copy.
void say_wrapped(std::FILE* stream, const std::string& text);

enum class Style { kPlain, kBold, kDim, kGood, kBad, kWarn };
std::string paint(const Terminal& terminal, Style style, const std::string& text);

// Columns are as wide as their widest cell; the last one is not padded. Where the terminal has no
// room for all of them, a row takes several lines.
class Table {
 public:
  enum class Align { kLeft, kRight };

  void column(const std::string& title, Align align = Align::kLeft);
  // One cell per column.
  void row(std::vector<std::string> cells, Style style = Style::kPlain);
  bool empty() const { return rows_.empty(); }
  std::string text(const Terminal& terminal) const;

 private:
  struct Column {
    std::string title;
    Align align;
  };
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  struct Place {
    size_t start;  // column of the terminal
    bool new_line;
  };
  std::vector<size_t> widths() const;
  std::vector<Place> places(const std::vector<size_t>& widths, size_t terminal_width) const;
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<size_t>& widths,
                   const std::vector<Place>& places,
                   size_t terminal_width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Texts for people.
std::string bytes_text(double bytes);                               // "1.5 GiB"
std::string duration_text(double seconds);                          // "48s", "1m10s", "2h05m"
std::string percent_text(double fraction);                          // "+10.5%"
std::string interval_text(double median, double low, double high);  // "+10.5% (10.1..10.9)"
std::string count_text(int64_t count);                              // "3,288"
// "611.9 us"; a recording of ratios has no microseconds: "0.9512 rel".
std::string time_text(double time_us, bool relative);
// The same without a unit, for a column whose title has it: "611.9", "0.9512", "-" where unknown.
std::string time_cell(double time_us, bool relative);
std::string times_cell(double low_us, double high_us, bool relative);  // "600.1..611.9"

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
#include "tools/term.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace mla::tools {
namespace {

constexpr size_t kMaxWidth = 1000;
constexpr size_t kFoldIndent = 4;        // of the lines that a row of a table continues on
constexpr size_t kLastColumnWidth = 24;  // with less room the last column begins a line of its own

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

bool use_color(bool tty, Color color) {
  if (color != Color::kAuto) return color == Color::kAlways;
  if (environment_set("NO_COLOR")) return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && *force != '\0' && std::strcmp(force, "0") != 0) return true;
  return tty && !dumb_terminal();
}

size_t terminal_width(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long width = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return width > 0 ? std::min(static_cast<size_t>(width), kMaxWidth) : 80;
}

// Where to break a line: behind the last blank that leaves at most `room` columns, else within a
// list of values, else behind the word that is too long. npos: nowhere.
size_t break_of(std::string_view line, size_t room) {
  const size_t text = std::min(line.find_first_not_of(' '), line.size());
  const size_t blank = line.rfind(' ', room);
  if (blank != std::string_view::npos && blank > text) return blank;
  const size_t value = line.find_last_of(",|", room == 0 ? 0 : room - 1);
  if (value != std::string_view::npos && value > text) return value + 1;
  return line.find(' ', std::max(text, room));
}

// One line that begins in column `start`.
std::string wrapped_line(std::string_view line, size_t start, size_t indent, size_t width) {
  std::string out;
  while (start + line.size() > width) {
    const size_t room = width - std::min(start, width);
    const size_t cut = break_of(line, room);
    if (cut == std::string_view::npos) break;
    out += line.substr(0, line.find_last_not_of(' ', cut - 1) + 1);
    out.append(1, '\n').append(indent, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' ', cut), line.size()));
    start = indent;
  }
  return out += line;
}

// A shell's command: its head, then every option with what follows it. Quoted blanks part nothing.
std::vector<std::string> command_parts(std::string_view command) {
  std::vector<std::string> parts;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    if (command[i] == '\'') quoted = !quoted;
    if (quoted || !command.substr(i).starts_with(" --")) continue;
    parts.emplace_back(command.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.emplace_back(command.substr(begin));
  return parts;
}

const char* escape(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\033[1m";
    case Style::kDim:
      return "\033[2m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[31m";
    case Style::kWarn:
      return "\033[33m";
  }
  return "";
}

}  // namespace

bool environment_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

Terminal inspect(std::FILE* stream, Color color) {
  const int fd = fileno(stream);
  const bool tty = isatty(fd) == 1;
  return {tty && !dumb_terminal() && !environment_set("CI"),
          use_color(tty, color),
          tty ? terminal_width(fd) : 0};
}

std::string wrapped(const Terminal& terminal, const std::string& text, size_t indent) {
  if (terminal.width == 0) return text;
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out +=
        wrapped_line(std::string_view(text).substr(begin, end - begin), 0, indent, terminal.width);
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string wrapped_command(const Terminal& terminal, const std::string& command, size_t indent) {
  constexpr size_t kContinued = 2;  // " \\" at the end of a line
  if (terminal.width == 0 || indent + command.size() <= terminal.width) return command;
  std::string out;
  size_t at = indent;
  for (const std::string& part : command_parts(command)) {
    if (!out.empty() && at + 1 + part.size() + kContinued > terminal.width) {
      at = indent + kFoldIndent;
      out += " \\\n" + std::string(at, ' ');
    } else if (!out.empty()) {
      out += ' ';
      ++at;
    }
    out += part;
    at += part.size();
  }
  return out;
}

void say(std::FILE* stream, const std::string& text) {
  std::fputs(text.c_str(), stream);
}

void say_wrapped(std::FILE* stream, const std::string& text) {
  say(stream, wrapped(inspect(stream, Color::kAuto), text, kFoldIndent));
}

std::string paint(const Terminal& terminal, Style style, const std::string& text) {
  if (!terminal.color || style == Style::kPlain || text.empty()) return text;
  return escape(style) + text + "\033[0m";
}

void Table::column(const std::string& title, Align align) {
  columns_.push_back({title, align});
}

void Table::row(std::vector<std::string> cells, Style style) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), style});
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const Row& row : rows_) {
    for (size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], row.cells[c].size());
  }
  return widths;
}

std::vector<Table::Place> Table::places(const std::vector<size_t>& widths,
                                        size_t terminal_width) const {
  std::vector<Place> places;
  size_t end = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const bool wraps = c + 1 == columns_.size() && columns_[c].align == Align::kLeft;
    const size_t needed = wraps ? std::min(widths[c], kLastColumnWidth) : widths[c];
    Place place = {c == 0 ? 0 : end + 2, false};
    if (c > 0 && terminal_width > 0 && place.start + needed > terminal_width) {
      place = {kFoldIndent, true};
    }
    places.push_back(place);
    end = place.start + widths[c];
  }
  return places;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<size_t>& widths,
                        const std::vector<Place>& places,
                        size_t terminal_width) const {
  std::string out, current;
  const auto finished = [&] {
    const std::string trimmed = current.substr(0, current.find_last_not_of(' ') + 1);
    const bool one_line = trimmed.find('\n') == std::string::npos;
    return terminal_width > 0 && one_line ? wrapped_line(trimmed, 0, kFoldIndent, terminal_width)
                                          : trimmed;
  };
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (places[c].new_line) {
      out += finished() + "\n";
      current.clear();
    }
    current.resize(places[c].start, ' ');
    const std::string pad(widths[c] - std::min(widths[c], cells[c].size()), ' ');
    if (columns_[c].align == Align::kRight) {
      current += pad + cells[c];
    } else if (c + 1 < columns_.size() || terminal_width == 0) {
      current += cells[c] + pad;
    } else {
      current += wrapped_line(cells[c], places[c].start, places[c].start, terminal_width);
    }
  }
  return out + finished();
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const std::vector<size_t> widths = this->widths();
  const std::vector<Place> places = this->places(widths, terminal.width);
  const auto painted = [&](Style style, const std::vector<std::string>& cells) {
    return paint(terminal, style, line(cells, widths, places, terminal.width)) + "\n";
  };
  std::string out = painted(Style::kBold, titles);
  for (const Row& row : rows_) out += painted(row.style, row.cells);
  return out;
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

std::string percent_text(double fraction) {
  return fmt::format("{:+.2f}%", 100 * fraction);
}

std::string interval_text(double median, double low, double high) {
  return fmt::format("{} ({:.2f}..{:.2f})", percent_text(median), 100 * low, 100 * high);
}

std::string time_text(double time_us, bool relative) {
  if (!(time_us > 0)) return "-";
  return time_cell(time_us, relative) + (relative ? " rel" : " us");
}

std::string time_cell(double time_us, bool relative) {
  if (!(time_us > 0)) return "-";
  return relative ? fmt::format("{:.4f}", time_us) : fmt::format("{:.1f}", time_us);
}

std::string times_cell(double low_us, double high_us, bool relative) {
  return time_cell(low_us, relative) + ".." + time_cell(high_us, relative);
}

std::string count_text(int64_t count) {
  const std::string digits = fmt::format("{}", count);
  const size_t first = count < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace mla::tools

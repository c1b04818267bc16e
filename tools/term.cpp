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

namespace mla::tools {
namespace {

constexpr int kMaxWidth = 1000;

bool environment_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

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

int terminal_width(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long width = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return width > 0 ? static_cast<int>(std::min<long>(width, kMaxWidth)) : 80;
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

Terminal inspect(std::FILE* stream, Color color) {
  const int fd = fileno(stream);
  const bool tty = isatty(fd) == 1;
  return {
      tty && !dumb_terminal() && !environment_set("CI"), use_color(tty, color), terminal_width(fd)};
}

void say(std::FILE* stream, const std::string& text) {
  std::fputs(text.c_str(), stream);
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

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<size_t>& widths) const {
  std::string out;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const std::string pad(widths[c] - std::min(widths[c], cells[c].size()), ' ');
    const bool last = c + 1 == columns_.size();
    if (columns_[c].align == Align::kRight) {
      out += pad + cells[c];
    } else {
      out += cells[c] + (last ? "" : pad);
    }
    if (!last) out += "  ";
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const Row& row : rows_) {
    for (size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], row.cells[c].size());
  }
  std::string out = paint(terminal, Style::kBold, line(titles, widths)) + "\n";
  for (const Row& row : rows_) out += paint(terminal, row.style, line(row.cells, widths)) + "\n";
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

std::string time_text(double time_us, bool relative) {
  if (!(time_us > 0)) return "-";
  return time_cell(time_us, relative) + (relative ? " rel" : " us");
}

std::string time_cell(double time_us, bool relative) {
  if (!(time_us > 0)) return "-";
  return relative ? fmt::format("{:.4f}", time_us) : fmt::format("{:.1f}", time_us);
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

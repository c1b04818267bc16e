// SPDX-License-Identifier: MIT
// Markdown to scdoc, block by block.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "kernels/error.h"
#include "tools/man/pages.h"
#include "tools/parse.h"

namespace mla::tools {
namespace {

using Lines = std::vector<std::string>;

bool is_table_row(std::string_view line) {
  return line.starts_with('|');
}
bool is_code(std::string_view line) {
  return line.starts_with("    ");
}
bool is_bullet(std::string_view line) {
  return line.starts_with("- ");
}
bool is_number(std::string_view line) {
  const size_t digits = line.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && line.substr(digits).starts_with(". ");
}

// `code` becomes bold; of a [text](target) the text stays.
std::string inline_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t mark = std::min(text.find_first_of("`["), text.size());
    out += escaped(text.substr(0, mark));
    text.remove_prefix(mark);
    if (text.empty()) break;
    const bool code = text.front() == '`';
    const size_t end = text.find(code ? "`" : "](", 1);
    const size_t after = code ? end : text.find(')', end);
    if (end == std::string_view::npos || after == std::string_view::npos) {
      out += escaped(text.substr(0, 1));
      text.remove_prefix(1);
      continue;
    }
    const std::string inner = escaped(text.substr(1, end - 1));
    out += code ? "*" + inner + "*" : inner;
    text.remove_prefix(after + 1);
  }
  return out;
}

std::string heading(const std::string& line) {
  std::string text = line.substr(line.find(' ') + 1);
  if (!line.starts_with("## ")) {
    throw Error(ErrorCode::kUsage, "a heading that is neither # nor ##: " + line);
  }
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return "# " + escaped(text) + "\n\n";
}

std::string table(const Lines& rows) {
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (r == 1) continue;  // the rule below the titles
    Lines cells = split(std::string_view(rows[r]).substr(1, rows[r].rfind('|') - 1), '|');
    for (size_t c = 0; c < cells.size(); ++c) {
      const size_t begin = std::min(cells[c].find_first_not_of(' '), cells[c].size());
      const std::string cell = inline_text(
          std::string_view(cells[c]).substr(begin, cells[c].find_last_not_of(' ') + 1 - begin));
      const char first = c > 0 ? ':' : r == 0 ? '[' : '|';
      const bool last = c + 1 == cells.size();
      text += fmt::format("{}{} {}\n", first, r > 0 ? ' ' : last ? '<' : '[', cell);
    }
  }
  return text + "\n";
}

std::string code(const Lines& lines) {
  std::string text = "```\n";
  for (const std::string& line : lines) text += escaped(line.substr(4)) + "\n";
  return text + "```\n\n";
}

// A paragraph or a list: lines that begin an item, and those that continue it.
std::string flowing(const Lines& lines) {
  std::string text, item;
  const auto flush = [&](const char* mark) {
    if (!item.empty()) text += mark + paragraph(inline_text(item)) + "\n";
    item.clear();
  };
  const char* mark = "";
  for (const std::string& line : lines) {
    const bool bullet = is_bullet(line);
    if (bullet || is_number(line)) {
      flush(mark);
      mark = bullet ? "- " : ". ";
      item = line.substr(line.find(' ') + 1);
      continue;
    }
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    item += (item.empty() ? "" : " ") + line.substr(begin);
  }
  flush(mark);
  return text + "\n";
}

std::string block(const Lines& lines) {
  if (lines.front().starts_with('#')) return heading(lines.front());
  if (is_table_row(lines.front())) return table(lines);
  return is_code(lines.front()) ? code(lines) : flowing(lines);
}

}  // namespace

std::string markdown_page(const PageTitle& title, const std::string& markdown) {
  std::string text = page_head(title) + "# DESCRIPTION\n\n";
  Lines lines;
  const auto flush = [&] {
    if (!lines.empty()) text += block(lines);
    lines.clear();
  };
  for (const std::string& line : split(markdown, '\n')) {
    if (line.starts_with("# ")) continue;
    const bool other_kind = !lines.empty() && is_table_row(line) != is_table_row(lines.front());
    if (line.empty() || other_kind) flush();
    if (!line.empty()) lines.push_back(line);
  }
  flush();
  return text;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
#include "tools/markdown.h"

namespace mla::tools {

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string markdown_code(const std::string& text) {
  return "`" + text + "`";
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& text : cells) line.append(" ").append(markdown_cell(text)).append(" |");
  return line + "\n";
}

std::string markdown_head(const std::vector<std::string>& titles) {
  std::string rule = "|";
  for (size_t i = 0; i < titles.size(); ++i) rule += "---|";
  return markdown_row(titles) + rule + "\n";
}

}  // namespace mla::tools

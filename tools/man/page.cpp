// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <string_view>

#include "tools/man/pages.h"

namespace mla::tools {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\*_`").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string paragraph(const std::string& text) {
  const bool marked =
      !text.empty() && std::string_view("#-.|:;[]").find(text[0]) != std::string::npos;
  return (marked ? "\\" : "") + text;
}

std::string page_head(const PageTitle& title) {
  return fmt::format("{0}({1}) \"mla-tune {3}\"\n\n# NAME\n\n{0} - {2}\n\n",
                     title.name,
                     title.section,
                     title.what,
                     title.version);
}

}  // namespace mla::tools

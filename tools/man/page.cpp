// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <string_view>

#include "tools/man/pages.h"

namespace mla::tools {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool marks_line =
        out.empty() && std::string_view("#-.|:;[]\t").find(c) != std::string::npos;
    if (c == '\\' || c == '*' || c == '_' || c == '`' || marks_line) out += '\\';
    out += c;
  }
  return out;
}

std::string page_head(const PageTitle& title) {
  return fmt::format("{0}({1}) \"mla-tune {3}\"\n\n# NAME\n\n{0} - {2}\n\n",
                     title.name,
                     title.section,
                     title.what,
                     title.version);
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// C headers to scdoc: every declaration as it stands, then its comment.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/man/pages.h"
#include "tools/parse.h"

namespace mla::tools {
namespace {

// The words of a comment, its lines joined; an empty line in it parts paragraphs.
std::string comment_text(std::string_view comment) {
  std::string text;
  for (std::string line : split(comment.substr(2, comment.size() - 4), '\n')) {
    const size_t begin = std::min(line.find_first_not_of(" *"), line.size());
    line = line.substr(begin, line.find_last_not_of(' ') + 1 - begin);
    if (line.starts_with("SPDX-")) continue;
    if (line.empty()) {
      if (!text.empty() && !text.ends_with("\n\n")) text += "\n\n";
    } else {
      text += (text.empty() || text.ends_with('\n') ? "" : " ") + escaped(line);
    }
  }
  return paragraph(text.substr(0, text.find_last_not_of(" \n") + 1));
}

// Without the macro that exports it, by which its parameters are indented.
std::string declaration_text(std::string_view declaration) {
  const size_t name = declaration.find("_API ");
  const size_t macro =
      name == std::string_view::npos || declaration.find('\n') < name ? 0 : name + 5;
  std::string text;
  for (const std::string& line : split(declaration.substr(macro), '\n')) {
    const bool shifted = !text.empty() && line.starts_with(std::string(macro, ' '));
    text += escaped(line.substr(shifted ? macro : 0)) + "\n";
  }
  return text;
}

struct Reader {
  std::string_view text;

  std::string_view take(size_t bytes) {
    const std::string_view taken = text.substr(0, bytes);
    text.remove_prefix(std::min(bytes, text.size()));
    return taken;
  }
  void skip_blanks() { take(std::min(text.find_first_not_of(" \n"), text.size())); }
  std::string_view comment() { return take(text.find("*/") + 2); }
  std::string_view line() { return take(std::min(text.find('\n'), text.size())); }
  // Up to the semicolon that is in no braces and in no comment.
  std::string_view declaration() {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text.substr(i).starts_with("/*")) i = text.find("*/", i) + 1;
      if (text[i] == '{') ++depth;
      if (text[i] == '}') --depth;
      if (text[i] == ';' && depth == 0) return take(i + 1);
    }
    return take(text.size());
  }
};

// Without what only a compiler wants: guards, macros, extern "C".
std::string declarations(std::string_view header) {
  Reader reader{header};
  std::string text, comment;
  while (reader.skip_blanks(), !reader.text.empty()) {
    if (reader.text.starts_with("/*")) {
      comment = comment_text(reader.comment());
    } else if (reader.text.front() == '#' || reader.text.starts_with("extern \"C\"") ||
               reader.text.front() == '}') {
      reader.line();
      comment.clear();
    } else {
      text += "```\n" + declaration_text(reader.declaration()) + "```\n\n";
      if (!comment.empty()) text += comment + "\n\n";
      comment.clear();
    }
  }
  return text;
}

}  // namespace

std::string header_page(const PageTitle& title, const std::vector<Header>& headers) {
  std::string text = page_head(title) + "# SYNOPSIS\n\n";
  text += fmt::format("```\n#include <{0}.h>\ncc ... $(pkg-config --cflags --libs {0})\n```\n\n",
                      title.name);
  text += "# DESCRIPTION\n\n";
  for (const Header& header : headers) {
    text +=
        comment_text(std::string_view(header.text).substr(0, header.text.find("*/") + 2)) + "\n\n";
  }
  for (const Header& header : headers) {
    text += fmt::format("# {}\n\n", escaped(header.name)) + declarations(header.text);
  }
  return text;
}

}  // namespace mla::tools

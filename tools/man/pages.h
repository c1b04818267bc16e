// SPDX-License-Identifier: MIT
// Manual pages as scdoc sources, made of what exists anyway: the option tables, a page of this
// repository's Markdown, a C header. So they cannot say anything else than their origin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mla::tools {

struct PageTitle {
  std::string name;  // "mla-tune.db"
  int section = 1;
  std::string what;  // the line of NAME
  std::string version;
};

// `text` without what scdoc would take for markup within a line.
std::string escaped(std::string_view text);
// A text that begins a line: its first character is no markup either.
std::string paragraph(const std::string& text);

// The head of every page, up to the text of NAME.
std::string page_head(const PageTitle& title);

// mla-tune(1), from the verb and option tables.
std::string program_page(const PageTitle& title);

// Of a Markdown text: headings, paragraphs, lists, tables, indented code. Its first heading is left
// out, since `title` stands for it. Throws Error(kUsage) for what it cannot turn into scdoc.
std::string markdown_page(const PageTitle& title, const std::string& markdown);

struct Header {
  std::string name;  // "mla_policy.h"
  std::string text;
};
// Of C headers whose declarations each follow their comment. The comments that open the headers are
// the description.
std::string header_page(const PageTitle& title, const std::vector<Header>& headers);

}  // namespace mla::tools

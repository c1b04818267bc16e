// SPDX-License-Identifier: MIT
// Pieces of HTML. Everything that comes from a database is escaped here and nowhere else: a device
// may have any name.
#pragma once

#include <string>
#include <vector>

namespace mla::tools {

// Text for an element or a quoted attribute. Control characters become U+FFFD.
std::string html_text(const std::string& text);

// "<p>...</p>" of a text.
std::string html_paragraph(const std::string& text, const char* css_class = "");

std::string html_code(const std::string& text);

// A file name as a relative link: percent-encoded, so that "a:b.csv" is no scheme.
std::string html_relative_url(const std::string& file_name);

class HtmlTable {
 public:
  enum class Kind { kText, kNumber, kCode };

  void column(const std::string& title, Kind kind = Kind::kText);
  // One cell per column.
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string html() const;

 private:
  struct Column {
    std::string title;
    Kind kind;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The numbers behind a figure, closed until asked for; open on paper.
std::string html_details(const std::string& summary, const std::string& inner_html);

}  // namespace mla::tools

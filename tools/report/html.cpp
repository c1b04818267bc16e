// SPDX-License-Identifier: MIT
#include "tools/report/html.h"

#include <fmt/format.h>

#include <string_view>

namespace mla::tools {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string cell_html(HtmlTable::Kind kind, const std::string& text) {
  switch (kind) {
    case HtmlTable::Kind::kText:
      return "<td>" + html_text(text) + "</td>";
    case HtmlTable::Kind::kNumber:
      return "<td class=\"number\">" + html_text(text) + "</td>";
    case HtmlTable::Kind::kCode:
      return "<td>" + html_code(text) + "</td>";
  }
  return "";
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if ((code < 0x20 && c != '\n' && c != '\t') || code == 0x7F) {
      out += kReplacement;
    } else {
      out += c;
    }
  }
  return out;
}

std::string html_paragraph(const std::string& text, const char* css_class) {
  const std::string attribute = *css_class == '\0' ? "" : fmt::format(" class=\"{}\"", css_class);
  return fmt::format("<p{}>{}</p>\n", attribute, html_text(text));
}

std::string html_code(const std::string& text) {
  return "<code>" + html_text(text) + "</code>";
}

std::string html_relative_url(const std::string& file_name) {
  std::string url = "./";
  for (const char c : file_name) {
    url += is_unreserved(c) ? std::string(1, c)
                            : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

void HtmlTable::column(const std::string& title, Kind kind) {
  columns_.push_back({title, kind});
}

void HtmlTable::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

// The frame around it scrolls where the window is narrower than the table.
std::string HtmlTable::html() const {
  std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const Column& column : columns_) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.kind == Kind::kNumber ? " class=\"number\"" : "",
                        html_text(column.title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& cells : rows_) {
    text += "<tr>";
    for (size_t i = 0; i < columns_.size(); ++i) text += cell_html(columns_[i].kind, cells.at(i));
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string html_details(const std::string& summary, const std::string& inner_html) {
  return fmt::format(
      "<details><summary>{}</summary>\n{}</details>\n", html_text(summary), inner_html);
}

}  // namespace mla::tools

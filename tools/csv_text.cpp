// SPDX-License-Identifier: MIT
#include "tools/csv_text.h"

#include <fmt/format.h>

namespace mla::tools {
namespace {

std::string quoted_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) text += ',';
    text += quoted_field(field);
  }
  return text + "\n";
}

std::string csv_comment(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return "# " + text + "\n";
}

std::string csv_number(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace mla::tools

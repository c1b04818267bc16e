// SPDX-License-Identifier: MIT
// Small parsing helpers behind the text forms. std only; strict: no leading or trailing characters.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace mla {

// False for anything but an optional minus sign and digits that fit.
inline bool parse_int(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Takes the next word off `rest`; empty at the end. Words are separated by blanks.
inline std::string_view next_word(std::string_view* rest) {
  const size_t begin = rest->find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    *rest = {};
    return {};
  }
  const size_t end = rest->find_first_of(" \t", begin);
  std::string_view word = rest->substr(begin, end == std::string_view::npos ? end : end - begin);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end);
  return word;
}

// Takes the next line off `rest`, without its end.
inline std::string_view next_line(std::string_view* rest) {
  const size_t end = rest->find('\n');
  const std::string_view line = rest->substr(0, end);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end + 1);
  return line;
}

// Untrusted text in an error message: short and printable. Not `quoted`: std::string would find
// that of <iomanip>, which headers of GPU runtimes bring along.
inline std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 60)) result += (c >= 0x20 && c < 0x7F) ? c : '?';
  if (text.size() > 60) result += "...";
  return result + "'";
}

// Text of another program, for one line of a message or a file: control characters become spaces.
inline std::string one_line(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return result;
}

}  // namespace mla

// SPDX-License-Identifier: MIT
#include "db/text_line.h"

#include <charconv>
#include <cmath>

#include "kernels/text.h"

namespace mla::db {
namespace {

constexpr char kHex[] = "0123456789abcdef";

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string shortest(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

int hex_digit(char c) {
  const size_t digit = std::string_view(kHex).find(c);
  if (digit >= 16) throw BadLine("an escape is not \\\", \\\\ or \\x and two digits");
  return static_cast<int>(digit);
}

// Behind the opening quote; takes the text and the closing one off `rest`.
std::string unquote(std::string_view* rest) {
  std::string text;
  for (size_t i = 0; i < rest->size(); ++i) {
    const char c = (*rest)[i];
    if (c == '"') {
      rest->remove_prefix(i + 1);
      return text;
    }
    if (c != '\\') {
      text += c;
      continue;
    }
    const std::string_view escape = rest->substr(i + 1, 3);
    if (!escape.empty() && (escape[0] == '"' || escape[0] == '\\')) {
      text += escape[0];
      i += 1;
    } else if (escape.size() == 3 && escape[0] == 'x') {
      text += static_cast<char>(hex_digit(escape[1]) << 4 | hex_digit(escape[2]));
      i += 3;
    } else {
      throw BadLine("an escape is not \\\", \\\\ or \\x and two digits");
    }
  }
  throw BadLine("a quote is not closed");
}

double parse_real(std::string_view key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw BadLine(std::string(key) + ": " + in_quotes(text) + " is not a number");
  }
  return value;
}

int64_t parse_integer(std::string_view key, std::string_view text) {
  int64_t value = 0;
  if (!parse_int(text, &value)) {
    throw BadLine(std::string(key) + ": " + in_quotes(text) + " is not an integer");
  }
  return value;
}

}  // namespace

std::string to_text(const Field& field) {
  std::string text = " " + std::string(field.column) + "=";
  if (const auto* integer = std::get_if<int64_t>(&field.value))
    return text + std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&field.value)) return text + shortest(*real);
  return text + quote(std::get<std::string>(field.value));
}

TextLine::TextLine(std::string_view line) {
  kind_ = next_word(&line);
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return;
    const size_t end = std::min(line.find_first_of("= \t"), line.size());
    const std::string key(line.substr(0, end));
    line.remove_prefix(end);
    if (line.empty() || line[0] != '=') {
      if (!number_.empty() || !values_.empty()) throw BadLine(in_quotes(key) + " has no value");
      number_ = key;
      continue;
    }
    line.remove_prefix(1);
    Written written;
    written.quoted = !line.empty() && line[0] == '"';
    if (written.quoted) {
      line.remove_prefix(1);
      written.value = unquote(&line);
    } else {
      const size_t length = std::min(line.find_first_of(" \t"), line.size());
      written.value = line.substr(0, length);
      line.remove_prefix(length);
    }
    if (!values_.emplace(key, std::move(written)).second)
      throw BadLine(in_quotes(key) + " is given twice");
  }
}

TextLine::Written TextLine::take(std::string_view key) {
  const auto found = values_.find(key);
  if (found == values_.end()) throw BadLine(std::string(key) + " is missing");
  Written written = std::move(found->second);
  values_.erase(found);
  return written;
}

int64_t TextLine::number() {
  const int64_t value = parse_integer(kind_, number_);
  number_.clear();
  return value;
}

int64_t TextLine::integer(std::string_view key) {
  return parse_integer(key, take(key).value);
}

std::string TextLine::text(std::string_view key) {
  const Written written = take(key);
  if (!written.quoted) throw BadLine(std::string(key) + ": a text has to be in quotes");
  if (written.value.size() > kMaxTextBytes) throw BadLine(std::string(key) + ": is too long");
  return written.value;
}

Fields TextLine::fields(const Fields& like) {
  Fields result;
  for (const Field& field : like) {
    if (std::holds_alternative<std::string>(field.value)) {
      result.push_back({field.column, text(field.column)});
    } else if (std::holds_alternative<double>(field.value)) {
      result.push_back({field.column, parse_real(field.column, take(field.column).value)});
    } else {
      result.push_back({field.column, integer(field.column)});
    }
  }
  return result;
}

void TextLine::finish() const {
  if (!number_.empty()) throw BadLine(in_quotes(number_) + " has no value");
  if (!values_.empty()) throw BadLine(in_quotes(values_.begin()->first) + " is not known");
}

}  // namespace mla::db

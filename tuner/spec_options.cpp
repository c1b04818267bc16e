// SPDX-License-Identifier: MIT
#include "tuner/spec_options.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::tuner {
namespace {

template <typename Number>
bool parse_number(std::string_view text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

SpecOptions::SpecOptions(std::string_view source, std::string_view text) : source_(source) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t equals = item.find('=');
    const std::string key(item.substr(0, equals));
    if (equals == std::string_view::npos) fail(key, "expected key=value");
    if (!values_.emplace(key, item.substr(equals + 1)).second) fail(key, "given twice");
  }
}

void SpecOptions::fail(const std::string& key, const std::string& why) const {
  throw Error(ErrorCode::kUsage, "device " + source_ + ": option " + in_quotes(key) + ": " + why);
}

const std::string* SpecOptions::take(const std::string& key) {
  known_[key] = true;
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

double SpecOptions::fraction(const std::string& key, double otherwise) {
  const std::string* text = take(key);
  if (text == nullptr) return otherwise;
  std::string_view digits = *text;
  const bool percent = !digits.empty() && digits.back() == '%';
  if (percent) digits.remove_suffix(1);
  double value = 0;
  if (!parse_number(digits, &value)) fail(key, in_quotes(*text) + " is not a number or percentage");
  if (percent) value /= 100;
  if (!(value >= 0 && value <= 1)) fail(key, in_quotes(*text) + " is not within 0 % and 100 %");
  return value;
}

int64_t SpecOptions::integer(const std::string& key, int64_t otherwise, int64_t low, int64_t high) {
  const std::string* text = take(key);
  if (text == nullptr) return otherwise;
  int64_t value = 0;
  if (!parse_number(std::string_view(*text), &value) || value < low || value > high)
    fail(key,
         in_quotes(*text) + " is not a whole number within " + std::to_string(low) + " and " +
             std::to_string(high));
  return value;
}

uint64_t SpecOptions::seed(uint64_t otherwise) {
  return static_cast<uint64_t>(
      integer("seed", static_cast<int64_t>(otherwise), 0, std::numeric_limits<int64_t>::max()));
}

void SpecOptions::finish() const {
  for (const auto& [key, value] : values_)
    if (known_.count(key) == 0) {
      std::string list;
      for (const auto& [name, used] : known_) list += (list.empty() ? "" : ", ") + name;
      fail(key, "unknown; there are " + list);
    }
}

}  // namespace mla::tuner

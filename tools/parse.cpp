// SPDX-License-Identifier: MIT
#include "tools/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "kernels/error.h"
#include "kernels/problem.h"
#include "kernels/text.h"

namespace mla::tools {
namespace {

constexpr double kMaxDurationS = 1000.0 * 3600.0;

Error usage(const std::string& text) {
  return Error(ErrorCode::kUsage, text);
}

// A step of a range: "x2" multiplies, "+8" adds.
struct Step {
  bool multiplies = false;
  int64_t amount = 0;
};

Step parse_step(std::string_view text, std::string_view item) {
  if (text.size() < 2 || (text[0] != 'x' && text[0] != '+')) {
    throw usage(fmt::format("{}: the step is written x2 or +8", in_quotes(item)));
  }
  const bool multiplies = text[0] == 'x';
  return {multiplies, parse_int(text.substr(1), multiplies ? 2 : 1, kMaxSeqLen)};
}

// Bounds and step are at most 2^24, so the next value cannot overflow.
void append_range(
    int64_t first, int64_t last, Step step, std::string_view item, std::vector<int64_t>* values) {
  if (first > last)
    throw usage(fmt::format("{}: the range ends before it begins", in_quotes(item)));
  if (step.multiplies && first == 0) {
    throw usage(fmt::format("{}: a range that multiplies cannot begin at 0", in_quotes(item)));
  }
  for (int64_t v = first; v <= last; v = step.multiplies ? v * step.amount : v + step.amount) {
    if (values->size() >= kMaxListValues) {
      throw usage(fmt::format("{}: more than {} values", in_quotes(item), kMaxListValues));
    }
    values->push_back(v);
  }
}

void append_item(std::string_view item, int64_t low, int64_t high, std::vector<int64_t>* values) {
  if (const size_t dots = item.find(".."); dots != std::string_view::npos) {
    append_range(parse_int(item.substr(0, dots), low, high),
                 parse_int(item.substr(dots + 2), low, high),
                 {false, 1},
                 item,
                 values);
    return;
  }
  const std::vector<std::string> parts = split(item, ':');
  if (parts.size() == 1) {
    const int64_t value = parse_int(item, low, high);
    append_range(value, value, {false, 1}, item, values);
    return;
  }
  if (parts.size() != 3) {
    throw usage(
        fmt::format("{}: a range is written 1..8, 1024:65536:x2 or 8:64:+8", in_quotes(item)));
  }
  append_range(parse_int(parts[0], low, high),
               parse_int(parts[1], low, high),
               parse_step(parts[2], item),
               item,
               values);
}

// Edit distance where swapping two neighbours counts as one edit.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(row);
  }
  return previous[b.size()];
}

}  // namespace

int64_t parse_int(std::string_view text, int64_t low, int64_t high) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || rest != end) {
    throw usage(fmt::format("{} is not a whole number", in_quotes(text)));
  }
  if (error != std::errc() || value < low || value > high) {
    throw usage(fmt::format("{} is not in {}..{}", text.substr(0, 40), low, high));
  }
  return value;
}

std::vector<int64_t> parse_list(std::string_view text, int64_t low, int64_t high) {
  std::vector<int64_t> values;
  for (const std::string& item : split(text, ',')) append_item(item, low, high, &values);
  std::vector<int64_t> distinct;
  for (const int64_t value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) {
      distinct.push_back(value);
    }
  }
  return distinct;
}

double parse_duration_s(std::string_view text) {
  double unit_s = 1;
  std::string_view number = text;
  if (!text.empty() && std::string_view("smh").find(text.back()) != std::string_view::npos) {
    unit_s = text.back() == 'h' ? 3600 : text.back() == 'm' ? 60 : 1;
    number.remove_suffix(1);
  }
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, value, std::chars_format::fixed);
  if (error == std::errc::invalid_argument || rest != end) {
    throw usage(fmt::format("{} is not a duration such as 90s, 5m or 1h", in_quotes(text)));
  }
  if (error != std::errc() || !std::isfinite(value) || value <= 0 ||
      value * unit_s > kMaxDurationS) {
    throw usage(fmt::format("{} is not above 0 and at most 1000h", text.substr(0, 40)));
  }
  return value * unit_s;
}

SharedPrefix parse_shared_prefix(std::string_view text) {
  SharedPrefix prefix;
  const size_t slash = text.find('/');
  prefix.rows = parse_int(text.substr(0, slash), 0, kMaxSeqLen);
  if (slash != std::string_view::npos) {
    prefix.group = static_cast<int32_t>(parse_int(text.substr(slash + 1), 1, kMaxBatch));
  }
  if (prefix.rows == 0) prefix.group = SharedPrefix{}.group;  // nothing is shared in one way only
  return prefix;
}

Shard parse_shard(std::string_view text) {
  constexpr int64_t kMaxShards = 100'000;
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    throw usage(fmt::format("{} is not I/N, such as 0/4", in_quotes(text)));
  Shard shard;
  shard.count = parse_int(text.substr(slash + 1), 1, kMaxShards);
  shard.index = parse_int(text.substr(0, slash), 0, shard.count - 1);
  return shard;
}

std::string parse_choice(std::string_view text, std::string_view choices) {
  const std::vector<std::string> names = split(choices, '|');
  if (std::find(names.begin(), names.end(), text) == names.end()) {
    std::string listed = fmt::format("{}", fmt::join(names, ", "));
    throw usage(fmt::format("{} is not one of {}{}", in_quotes(text), listed, hint(text, names)));
  }
  return std::string(text);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator, begin)) {
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates) {
  text = text.substr(0, 64);  // no name is longer; bounds the work on hostile input
  std::string best;
  size_t best_distance = std::max<size_t>(1, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(text, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string hint(std::string_view text, const std::vector<std::string>& candidates) {
  const std::string name = nearest_name(text, candidates);
  return name.empty() ? "" : fmt::format(", did you mean '{}'?", name);
}

}  // namespace mla::tools

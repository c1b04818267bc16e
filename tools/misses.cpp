// SPDX-License-Identifier: MIT
#include "tools/misses.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernels/error.h"
#include "kernels/shape_key.h"
#include "kernels/text.h"
#include "tools/paths.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

constexpr std::string_view kHeader = "# mla-tune misses 1:";

// Far above what engines see, and small enough that files of any size add up to a number.
constexpr double kMostTime_us = 1e18;
constexpr int64_t kMostMisses = 1'000'000'000'000;

double parse_time_us(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0 || value > kMostTime_us) {
    throw Error(ErrorCode::kUsage, in_quotes(text) + " is not a time");
  }
  return value;
}

int64_t parse_count(std::string_view text) {
  int64_t value = 0;
  if (!mla::parse_int(text, &value) || value < 0 || value > kMostMisses) {
    throw Error(ErrorCode::kUsage, in_quotes(text) + " is not a count");
  }
  return value;
}

// Equal for shapes that one tuned row would answer, and for those of unknown length.
bool same_shape(Problem a, Problem b) {
  if ((a.seq_len == 0) != (b.seq_len == 0)) return false;
  if (a.seq_len == 0) a.seq_len = b.seq_len = kMaxSeqLen;
  return bucket_key(a) == bucket_key(b);
}

// Calls body(line) for each; an Error gets the name of the file and the line.
template <class Body>
void for_each_line(std::string_view text, const std::string& name, const Body& body) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    try {
      body(text.substr(0, end), number);
    } catch (const Error& error) {
      throw Error(ErrorCode::kUsage, fmt::format("{}:{}: {}", name, number, error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

void MissReader::add(std::string_view text, const std::string& name) {
  if (text.substr(0, kHeader.size()) != kHeader) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: does not begin with '{}'", name, kHeader));
  }
  for_each_line(text, name, [this](std::string_view line, int number) {
    if (number == 1) {
      add_header(line.substr(kHeader.size()));
    } else if (!line.empty()) {
      add_shape(line);
    }
  });
}

void MissReader::add_header(std::string_view line) {
  const auto value = [](std::string_view word, std::string_view field) {
    if (word.substr(0, field.size()) != field) {
      throw Error(ErrorCode::kUsage, in_quotes(word) + " is not " + std::string(field) + "...");
    }
    return word.substr(field.size());
  };
  all_time_us_ += parse_time_us(value(next_word(&line), "all_time_us="));
  sum_.forgotten += parse_count(value(next_word(&line), "forgotten="));
}

void MissReader::add_shape(std::string_view line) {
  Miss miss;
  miss.count = parse_count(next_word(&line));
  miss.time_us = parse_time_us(next_word(&line));
  miss.problem = parse_problem(line);
  const auto known = std::find_if(sum_.shapes.begin(), sum_.shapes.end(), [&](const Miss& other) {
    return same_shape(other.problem, miss.problem);
  });
  if (known == sum_.shapes.end()) {
    sum_.shapes.push_back(miss);
  } else {
    known->count += miss.count;
    known->time_us += miss.time_us;
  }
}

Misses MissReader::result() const {
  Misses misses = sum_;
  misses.timed = all_time_us_ > 0;
  double all_count = static_cast<double>(misses.forgotten);
  for (const Miss& miss : misses.shapes) all_count += static_cast<double>(miss.count);
  for (Miss& miss : misses.shapes) {
    miss.share = misses.timed    ? miss.time_us / all_time_us_
                 : all_count > 0 ? static_cast<double>(miss.count) / all_count
                                 : 0;
  }
  std::stable_sort(misses.shapes.begin(), misses.shapes.end(), [](const Miss& a, const Miss& b) {
    return a.share > b.share;
  });
  return misses;
}

std::string misses_table(const Misses& misses, const Terminal& terminal) {
  Table table;
  table.column(misses.timed ? "of all time" : "of misses", Table::Align::kRight);
  table.column("count", Table::Align::kRight);
  table.column("time_us", Table::Align::kRight);
  table.column("shape");
  for (const Miss& miss : misses.shapes) {
    table.row({fmt::format("{:.1f} %", 100 * miss.share),
               count_text(miss.count),
               fmt::format("{:.0f}", miss.time_us),
               to_text(miss.problem)});
  }
  std::string text = table.text(terminal);
  if (misses.forgotten > 0) {
    text +=
        fmt::format("{} misses of further shapes were not kept\n", count_text(misses.forgotten));
  }
  return text;
}

std::string shapes_text(const Misses& misses) {
  std::string text = "# Shapes that no database answered, the largest share first.\n";
  for (const Miss& miss : misses.shapes) {
    const bool known = miss.problem.seq_len > 0;
    text += fmt::format("{}{}  # {:.1f} % of {}{}\n",
                        known ? "" : "# ",
                        to_text(miss.problem),
                        100 * miss.share,
                        misses.timed ? "the time" : "the misses",
                        known ? "" : ", unknown length: choose one");
  }
  return text;
}

std::vector<Problem> parse_shapes(std::string_view text, const std::string& name) {
  std::vector<Problem> problems;
  for_each_line(text, name, [&](std::string_view line, int) {
    line = line.substr(0, line.find('#'));
    std::string_view rest = line;
    if (next_word(&rest).empty()) return;
    problems.push_back(parse_problem(line));
    if (problems.back().seq_len == 0) throw Error(ErrorCode::kUsage, "seq_len: has to be known");
  });
  if (problems.empty()) throw Error(ErrorCode::kUsage, name + ": holds no shape");
  return problems;
}

std::vector<Problem> read_shapes(const std::vector<std::string>& paths) {
  std::vector<Problem> problems;
  for (const std::string& path : paths) {
    for (const Problem& problem : parse_shapes(read_file(path), path)) {
      if (std::find(problems.begin(), problems.end(), problem) == problems.end())
        problems.push_back(problem);
    }
  }
  return problems;
}

}  // namespace mla::tools

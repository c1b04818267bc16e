// SPDX-License-Identifier: MIT
// Reads a recorded sweep from CSV text.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "kernels/error.h"
#include "kernels/known_devices.h"
#include "kernels/text.h"
#include "tuner/csv.h"
#include "tuner/recording.h"

namespace mla::tuner {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::vector<std::string> words_of(const std::vector<std::string>& comments) {
  std::vector<std::string> words;
  for (const std::string& comment : comments)
    for (auto at = comment.begin(); at != comment.end();) {
      const auto begin = std::find_if(at, comment.end(), is_word_character);
      at = std::find_if_not(begin, comment.end(), is_word_character);
      if (begin != at) words.emplace_back(begin, at);
    }
  return words;
}

// "256 CU", "132 SMs": a number in front of one of the units, or 0.
int32_t counted(const std::vector<std::string>& words, const std::set<std::string>& units) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& digits = words[i - 1];
    int32_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    const bool number = error == std::errc() && end == digits.data() + digits.size() && count > 0;
    if (number && units.count(words[i]) != 0) return count;
  }
  return 0;
}

// "MI355X (gfx950, 256 CU, 8 XCD)", "H200 (132 SMs)": the name first, then what the text adds.
DeviceInfo device_of(const CsvFile& file, const DeviceHint& hint) {
  const std::vector<std::string> words = words_of(file.comments);
  DeviceInfo device;
  device.name = "recorded device";
  device.arch = "recorded";
  const auto is_arch = [](const std::string& word) {
    return word.rfind("gfx", 0) == 0 || word.rfind("sm_", 0) == 0;
  };
  const auto arch = std::find_if(words.begin(), words.end(), is_arch);
  for (const std::string& word : words)
    if (known_device(word, &device)) break;
  if (arch != words.end()) device.arch = *arch;
  if (const int32_t units = counted(words, {"CU", "CUs", "SM", "SMs"}))
    device.compute_units = units;
  if (const int32_t xcds = counted(words, {"XCD", "XCDs"})) device.xcds = xcds;
  if (hint.compute_units > 0) device.compute_units = hint.compute_units;
  if (hint.xcds > 0) device.xcds = hint.xcds;
  if (device.compute_units <= 0)
    throw Error(
        ErrorCode::kUsage,
        file.name + ": the comments name no known device and no '(N CU)' or '(N SMs)'; add cus=N");
  return device;
}

struct Columns {
  std::vector<size_t> problem;                 // indices of problem fields
  std::vector<std::pair<size_t, Knob>> knobs;  // index and knob
  size_t time = 0;
  bool relative = false;
  std::optional<size_t> leg;
};

bool find_column(const CsvFile& file, std::string_view name, size_t* index) {
  const auto& names = file.header.cells;
  *index = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  return *index < names.size();
}

[[noreturn]] void fail(const CsvFile& file, int line, const std::string& why) {
  throw Error(ErrorCode::kUsage, file.name + ":" + std::to_string(line) + ": " + why);
}

Columns find_columns(const CsvFile& file) {
  Columns columns;
  const auto& names = file.header.cells;
  for (size_t i = 0; i < names.size(); ++i) {
    Knob knob;
    if (is_problem_field(names[i])) columns.problem.push_back(i);
    if (parse_knob(names[i], &knob)) columns.knobs.emplace_back(i, knob);
  }
  for (const char* required : {"batch", "nhead", "seq_len"}) {
    size_t index = 0;
    if (!find_column(file, required, &index))
      fail(file, file.header.line, "column " + std::string(required) + ": missing");
  }
  if (columns.knobs.empty()) fail(file, file.header.line, "no column names a knob (splits, wait)");
  if (!find_column(file, "time_us", &columns.time) &&
      !find_column(file, "median_us", &columns.time)) {
    columns.relative = find_column(file, "relative_time", &columns.time);
    if (!columns.relative)
      fail(file, file.header.line, "column time_us, median_us or relative_time: missing");
  }
  size_t leg = 0;
  if (find_column(file, "leg", &leg)) columns.leg = leg;
  return columns;
}

double parse_time(const std::string& column, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value <= 0)
    throw Error(ErrorCode::kUsage, column + ": " + in_quotes(text) + " is not a time above 0");
  return value;
}

// The recorded values become legal ones, so they are kept to what sizes can be computed with.
int32_t parse_knob_value(Knob knob, const std::string& text) {
  constexpr int32_t kMost = 1 << 16;
  const int32_t value = parse_value(knob, text);
  if (value > kMost)
    throw Error(ErrorCode::kUsage,
                std::string(name(knob)) + ": " + text + " is above " + std::to_string(kMost));
  return value;
}

// "batch=8 nhead=12 seq_len=68000", as the problem's own parser takes it.
std::string problem_text(const CsvFile& file, const Columns& columns, const CsvRow& row) {
  std::string text;
  for (const size_t column : columns.problem) {
    const std::string& cell = row.cells[column];
    // A cell such as "8 q_len=3" would bring in a field that has no column.
    if (cell.empty() || cell.find_first_of(" \t\r\n") != std::string::npos)
      throw Error(ErrorCode::kUsage,
                  file.header.cells[column] + ": " + in_quotes(cell) + " is not a value");
    text += (text.empty() ? "" : " ") + file.header.cells[column] + "=" + cell;
  }
  return text;
}

void add_row(const CsvFile& file, const Columns& columns, const CsvRow& row, Recording* recording) {
  try {
    KernelConfig config;
    for (const auto& [column, knob] : columns.knobs)
      set(&config, knob, parse_knob_value(knob, row.cells[column]));
    const Problem problem = parse_problem(problem_text(file, columns, row));
    if (problem.seq_len == 0) throw Error(ErrorCode::kUsage, "seq_len: 0 is no recorded length");
    const double time_us = parse_time(file.header.cells[columns.time], row.cells[columns.time]);
    recording->at(problem, config).times_us.push_back(time_us);
    if (columns.leg && row.cells[*columns.leg] == "baseline") {
      recording->set_baseline(problem, config);
    }
  } catch (const Error& error) {
    // The parsers begin their texts with the name of the field or knob.
    fail(file, row.line, std::string("column ") + error.what());
  }
}

}  // namespace

Recording parse_recording(std::string_view text, const std::string& name, const DeviceHint& hint) {
  const CsvFile file = parse_csv(text, name);
  const Columns columns = find_columns(file);
  Recording recording;
  recording.device = device_of(file, hint);
  recording.device.relative_times = columns.relative;
  for (const size_t column : columns.problem)
    recording.add_problem_field(file.header.cells[column]);
  for (const auto& [column, knob] : columns.knobs) recording.add_knob(knob);
  for (const CsvRow& row : file.rows) add_row(file, columns, row, &recording);
  if (file.rows.empty()) fail(file, file.header.line, "no rows below the header");
  // A `leg` column names one baseline for all rows of a problem, whatever their split counts.
  recording.grouped_by_splits =
      columns.relative && !columns.leg && recording.every_split_count_is_its_own_unit();
  return recording;
}

}  // namespace mla::tuner

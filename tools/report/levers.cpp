// SPDX-License-Identifier: MIT
#include "tools/report/levers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "kernels/error.h"
#include "tuner/csv.h"
#include "tuner/recording.h"

namespace mla::tools {
namespace {

class Row {
 public:
  Row(const tuner::CsvFile& file, const tuner::CsvRow& row) : file_(file), row_(row) {}

  Error mistake(const std::string& text) const {
    return Error(ErrorCode::kUsage, fmt::format("{}:{}: {}", file_.name, row_.line, text));
  }

  // Empty where the file lacks the column.
  std::string cell(const std::string& column) const {
    for (size_t i = 0; i < file_.header.cells.size(); ++i) {
      if (file_.header.cells[i] == column) return row_.cells[i];
    }
    return "";
  }

  std::string needed(const std::string& column) const {
    const std::string text = cell(column);
    if (text.empty()) throw mistake(fmt::format("{}: empty or not there", column));
    return text;
  }

  // 0 for an empty cell.
  double number(const std::string& column) const {
    const std::string text = cell(column);
    double value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() &&
        (end.ec != std::errc() || end.ptr != text.data() + text.size() || !std::isfinite(value))) {
      throw mistake(fmt::format("{}: '{}' is not a number", column, text));
    }
    return value;
  }

 private:
  const tuner::CsvFile& file_;
  const tuner::CsvRow& row_;
};

std::string problem_text(const Row& row) {
  std::string text;
  for (const std::string& field : tuner::problem_fields()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", field, row.needed(field));
  }
  return text;
}

std::string config_text(const Row& row) {
  std::string text;
  for (const Knob knob : kKnobs) {
    const std::string value = row.cell(std::string(name(knob)));
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name(knob), value);
  }
  return text;
}

SweptLever lever_of(const Row& row, const std::string& device) {
  SweptLever lever;
  lever.device = device;
  lever.table = row.needed("table");
  lever.leg = row.needed("leg");
  try {
    lever.problem = parse_problem(problem_text(row));
    lever.config = parse_config(config_text(row));
  } catch (const Error& error) {
    throw row.mistake(error.what());
  }
  lever.time_us = row.number("time_us");
  lever.gain = {row.number("gain_low"), row.number("gain"), row.number("gain_high")};
  lever.rounds = static_cast<int64_t>(row.number("rounds"));
  lever.verdict = row.needed("verdict");
  return lever;
}

}  // namespace

std::string swept_device_text(const DeviceInfo& device) {
  return fmt::format(
      "{} ({}, {} CU, {} XCD)", device.name, device.arch, device.compute_units, device.xcds);
}

std::vector<SweptLever> read_swept_levers(const std::string& text, const std::string& file_name) {
  const tuner::CsvFile file = tuner::parse_csv(text, file_name);
  std::string device = file.comments.empty() ? "" : file.comments.front();
  device.erase(0, device.find_first_not_of(' '));
  std::vector<SweptLever> levers;
  for (const tuner::CsvRow& row : file.rows) levers.push_back(lever_of(Row(file, row), device));
  return levers;
}

}  // namespace mla::tools

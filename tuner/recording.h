// SPDX-License-Identifier: MIT
// A recorded sweep: the times of a device that is not here. Read from a CSV file or from a tuning
// database.
//
// CSV columns: `batch` and further fields of a problem, knobs, and one of time_us, median_us or
// relative_time. Of "leg" the value `baseline` counts, others ("trips") are ignored. A field or
// knob that the file lacks matches any value. Rows with equal fields and knobs are repeat
// recordings of one configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/record.h"
#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/outcome.h"
#include "kernels/problem.h"

namespace mla::tuner {

struct RecordedConfig {
  std::vector<double> times_us;  // repeats; empty where the outcome is not ok
  double spread = 0;             // relative deviation of one sample, where the file knows it
  Outcome outcome;
};

class Recording {
 public:
  DeviceInfo device;
  db::Environment environment;

  void add_problem_field(const std::string& name);
  void add_knob(Knob knob) { knobs_.push_back(knob); }
  bool has_knob(Knob knob) const;

  // The row of (problem, config), made where it is not there.
  RecordedConfig& at(const Problem& problem, const KernelConfig& config);
  // What the default of the recorded device was, but for the levers. Of several the last; those of
  // wide row groups and of fp8 rows, which are of other kernels, do not count.
  void set_baseline(const Problem& problem, const KernelConfig& config);
  const std::optional<KernelConfig>& baseline() const { return baseline_; }

  const RecordedConfig* find(const Problem& problem, const KernelConfig& config) const;
  bool holds(const Problem& problem) const { return rows_.count(project(problem)) != 0; }

  // By nhead, batch and length; a field that the file lacks has its default value.
  std::vector<Problem> problems() const;

  // Values of a knob over all rows, ascending.
  std::vector<int32_t> values(Knob knob) const;

  // True where rows of several split counts of one problem hold exactly 1.
  bool every_split_count_is_its_own_unit() const;

  // Times compare only within one split count.
  bool grouped_by_splits = false;

 private:
  Problem project(const Problem& problem) const;
  KernelConfig project(const KernelConfig& config) const;

  std::vector<std::string> fields_;
  std::vector<Knob> knobs_;
  std::optional<KernelConfig> baseline_;
  std::unordered_map<Problem, std::unordered_map<KernelConfig, RecordedConfig>> rows_;
};

// The columns of a problem ("batch", "page_size"), and what a recording has in them.
std::vector<std::string> problem_fields();
std::vector<std::string> problem_texts(const Problem& problem);
bool is_problem_field(std::string_view name);

// The device where a CSV file does not say it; 0: not given.
struct DeviceHint {
  int32_t compute_units = 0;
  int32_t xcds = 0;
};

// Throws Error(kUsage) naming file:line and column.
Recording parse_recording(std::string_view text, const std::string& name, const DeviceHint& hint);

// A CSV file or, by its first bytes, a tuning database: medians and spreads of the newest tuning of
// each problem. Throws Error(kUsage) or Error(kDatabase) naming the file.
Recording load_recording(const std::string& path, const DeviceHint& hint);

}  // namespace mla::tuner

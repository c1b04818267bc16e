// SPDX-License-Identifier: MIT
// Reads a recorded sweep from a tuning database, and tells the two kinds of file apart.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "db/store.h"
#include "kernels/error.h"
#include "kernels/text.h"
#include "tuner/recording.h"
#include "tuner/stats.h"

namespace mla::tuner {
namespace {

constexpr std::string_view kSqliteHeader{"SQLite format 3\0", 16};

std::ifstream open_file(const std::string& path) {
  const auto refuse = [&path](const std::string& why) {
    throw Error(ErrorCode::kUsage, one_line(path) + ": cannot be read as a recording: " + why);
  };
  std::error_code ignored;  // opening it says the same
  if (std::filesystem::is_directory(path, ignored)) refuse("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("no such file, or no permission");
  return file;
}

void add_tuning(const db::Store& store, const db::TuningSummary& tuning, Recording* recording) {
  const Problem& problem = tuning.winner.problem;
  std::unordered_map<KernelConfig, std::vector<double>> times_us;
  for (const db::RoundRecord& round : store.load_rounds(tuning.tuning_id))
    for (const db::SampleRecord& sample : round.samples)
      if (sample.outcome == OutcomeKind::kOk) times_us[sample.config].push_back(sample.time_us);
  for (const auto& [config, times] : times_us) {
    RecordedConfig& row = recording->at(problem, config);
    row.times_us = {median(times)};
    row.spread = relative_spread(times);
  }
  for (const db::OutcomeRecord& failed : store.load_outcomes(tuning.tuning_id)) {
    if (failed.outcome.ok()) continue;
    RecordedConfig& row = recording->at(problem, failed.config);
    // A candidate that was dropped for being slow has times all the same.
    if (failed.outcome.kind != OutcomeKind::kSlow || row.times_us.empty())
      row.outcome = failed.outcome;
  }
}

Recording load_database(const std::string& path) {
  const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
  const std::vector<db::TuningSummary> tunings = store.summaries();
  if (tunings.empty())
    throw Error(ErrorCode::kUsage, path + ": holds no finished tuning to replay");
  Recording recording;
  recording.device = tunings.front().device;
  recording.environment = tunings.front().environment;
  for (const Knob knob : kKnobs) recording.add_knob(knob);
  for (const std::string& field : problem_fields()) recording.add_problem_field(field);
  for (const db::TuningSummary& tuning : tunings) {
    if (device_key(tuning.device) != device_key(recording.device))
      throw Error(ErrorCode::kUsage,
                  path + ": holds several devices (" + device_key(recording.device) + ", " +
                      device_key(tuning.device) + "); a recording has one");
    add_tuning(store, tuning, &recording);
    recording.set_baseline(tuning.winner.problem, tuning.winner.default_config);
  }
  return recording;
}

}  // namespace

Recording load_recording(const std::string& path, const DeviceHint& hint) {
  std::ifstream file = open_file(path);
  std::string text(kSqliteHeader.size(), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text == kSqliteHeader) return load_database(path);
  text.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return parse_recording(text, path, hint);
}

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// The report as CSV: one line per tuned shape, one column per field of a problem and per knob.
#include <fmt/format.h>

#include <utility>

#include "tools/csv_text.h"
#include "tools/environment_fields.h"
#include "tools/report_data.h"

namespace mla::tools {
namespace {

// Of the columns: raised where one is renamed, removed or given another meaning.
constexpr int kCsvSchemaVersion = 1;

// What has to be equal where the rows are used: without that they are another machine's.
std::string validators(const ReportDevice& device) {
  std::string text;
  text += csv_comment("validator device_key=" + device_key(device.device));
  for (const EnvironmentField& field : kEnvironmentFields) {
    text +=
        csv_comment(fmt::format("validator {}={}", field.key, device.environment.*field.member));
  }
  return text;
}

std::string known_time(double time_us, bool relative) {
  return relative || !(time_us > 0) ? "" : csv_number(time_us);
}

std::string header() {
  std::vector<std::string> names = {"device",
                                    "arch",
                                    "compute_units",
                                    "xcds",
                                    "batch",
                                    "nhead",
                                    "seq_len",
                                    "q_len",
                                    "kv_dtype",
                                    "page_size",
                                    "shared_prefix",
                                    "share_group",
                                    "imbalance",
                                    "pool"};
  for (const Knob knob : kKnobs) names.emplace_back(name(knob));
  for (const char* more : {"default_us",       "expected_us",    "gain",
                           "gain_low",         "gain_high",      "verdict",
                           "reference",        "rounds",         "wins",
                           "losses",           "p_value",        "placebo_noise",
                           "configs_measured", "configs_pruned", "configs_failed",
                           "default_config",   "finalist",       "finalist_gain",
                           "started_utc",      "code_hash"}) {
    names.emplace_back(more);
  }
  return csv_line(names);
}

std::string shape_line(const ReportDevice& device, const ReportShape& shape) {
  const db::WinnerRecord& w = shape.summary.winner;
  const Problem& p = w.problem;
  const DeviceInfo& d = device.device;
  std::vector<std::string> fields = {d.name,
                                     d.arch,
                                     std::to_string(d.compute_units),
                                     std::to_string(d.xcds),
                                     std::to_string(p.batch),
                                     std::to_string(p.nhead),
                                     std::to_string(p.seq_len),
                                     std::to_string(p.q_len),
                                     std::string(name(p.kv_dtype)),
                                     std::to_string(p.page_size),
                                     std::to_string(p.shared_prefix),
                                     std::to_string(p.share_group),
                                     std::to_string(p.imbalance),
                                     std::string(name(p.pool))};
  for (const Knob knob : kKnobs) fields.push_back(value_text(knob, get(w.config, knob)));
  for (std::string field : {known_time(w.default_us, d.relative_times),
                            known_time(w.expected_us, d.relative_times),
                            csv_number(w.gain),
                            csv_number(w.gain_low),
                            csv_number(w.gain_high),
                            std::string(db::name(w.verdict)),
                            w.reference,
                            std::to_string(w.rounds),
                            std::to_string(w.wins),
                            std::to_string(w.losses),
                            csv_number(w.p_value),
                            csv_number(w.placebo_noise),
                            std::to_string(w.configs_measured),
                            std::to_string(w.configs_pruned),
                            std::to_string(w.configs_failed),
                            to_text(w.default_config),
                            to_text(w.finalist),
                            csv_number(w.finalist_gain),
                            shape.summary.run.started_utc,
                            shape.summary.environment.code_hash}) {
    fields.push_back(std::move(field));
  }
  return csv_line(fields);
}

}  // namespace

std::string report_csv(const ReportData& report) {
  std::string text = csv_comment(
      fmt::format("mla-tune report of {} ({})", report.database.path, report.database.database_id));
  text += csv_comment(fmt::format("validator schema_version={}", kCsvSchemaVersion));
  for (const ReportDevice& device : report.devices) {
    text += validators(device);
    for (const db::RunInfo& run : device.runs) {
      text += csv_comment(fmt::format(
          "{} on {}, seed {}: {}", run.started_utc, run.host, run.seed, run.command_line));
    }
  }
  text += header();
  for (const ReportDevice& device : report.devices) {
    for (const ReportShape& shape : device.shapes) text += shape_line(device, shape);
  }
  return text;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// The report as Markdown: answer first, evidence after.
#include <fmt/format.h>

#include <algorithm>

#include "tools/environment_fields.h"
#include "tools/markdown.h"
#include "tools/report_data.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

std::string environment_section(const ReportDevice& device) {
  const DeviceInfo& info = device.device;
  std::string text = fmt::format("## {} ({})\n\n", markdown_cell(info.name), device_key(info));
  if (info.relative_times) {
    text += "Times are ratios of a recording: they compare within one shape only.\n\n";
  }
  text += markdown_head({"environment", "value"});
  for (const EnvironmentField& field : kEnvironmentFields) {
    const std::string& value = device.environment.*field.member;
    if (!value.empty()) text += markdown_row({field.title, value});
  }
  for (const db::RunInfo& run : device.runs) {
    text += markdown_row(
        {"run",
         fmt::format(
             "{} on {}, seed {}: `{}`", run.started_utc, run.host, run.seed, run.command_line)});
  }
  for (const std::string& protocol : device.protocols) text += markdown_row({"protocol", protocol});
  return text;
}

std::string answer_section(const ReportDevice& device) {
  std::string text = "\n### Answer\n\n" + summary_text(device.summary) + ".\n";
  if (device.summary.placebo_noise > kNoiseWarning) {
    text += fmt::format("\n**Noisy**: the placebo moved by up to {:.2f}%.\n",
                        100 * device.summary.placebo_noise);
  }
  const bool relative = device.device.relative_times;
  text += "\nGain: median over paired rounds, quartiles in brackets.\n\n";
  text += markdown_head({"shape",
                         relative ? "default (relative)" : "default us",
                         relative ? "best (relative)" : "best us",
                         "gain",
                         "verdict",
                         "against",
                         "rounds won/lost/all",
                         "p",
                         "tried/pruned/failed",
                         "config"});
  for (const ReportShape& shape : device.shapes) {
    const db::WinnerRecord& w = shape.summary.winner;
    text += markdown_row({to_text(w.problem),
                          time_cell(w.default_us, relative),
                          time_cell(w.expected_us, relative),
                          gain_text(w),
                          verdict_text(w.verdict),
                          w.reference,
                          fmt::format("{}/{}/{}", w.wins, w.losses, w.rounds),
                          fmt::format("{:.2g}", w.p_value),
                          counts_text(w),
                          markdown_code(to_text(w.config))});
  }
  return text;
}

// One '#' per 2.5 % of the longest time: the shape of the curve at a glance.
std::string bar(double time_us, double longest_us) {
  const double part = longest_us > 0 ? time_us / longest_us : 0;
  return std::string(static_cast<size_t>(std::clamp(part, 0.0, 1.0) * 40), '#');
}

std::string dose_section(const ReportDevice& device) {
  const bool relative = device.device.relative_times;
  std::string text =
      "\n### Time against splits\n\nThe best configuration of each split count; median and "
      "quartiles "
      "of its samples, gain over the reference inside the same rounds.\n";
  for (const ReportShape& shape : device.shapes) {
    if (shape.dose.empty()) continue;
    double longest_us = 0;
    for (const DosePoint& point : shape.dose) longest_us = std::max(longest_us, point.time_us);
    const db::WinnerRecord& w = shape.summary.winner;
    text += fmt::format("\n{} (default splits={}, answer splits={})\n\n",
                        to_text(w.problem),
                        w.default_config.splits,
                        w.config.splits);
    text += markdown_head(
        {"splits", relative ? "relative" : "us", "quartiles", "n", "gain", "", "config"});
    for (const DosePoint& point : shape.dose) {
      text += markdown_row({std::to_string(point.splits),
                            time_cell(point.time_us, relative),
                            times_cell(point.low_us, point.high_us, relative),
                            std::to_string(point.samples),
                            percent_text(point.gain),
                            bar(point.time_us, longest_us),
                            markdown_code(to_text(point.config))});
    }
  }
  return text;
}

std::string failure_section(const ReportDevice& device) {
  std::string rows;
  for (const ReportShape& shape : device.shapes) {
    for (const auto& [kind, group] : shape.failures) {
      rows += markdown_row({to_text(shape.summary.winner.problem),
                            std::string(name(kind)),
                            std::to_string(group.count),
                            group.text,
                            markdown_code(to_text(group.config))});
    }
  }
  if (rows.empty()) return "\n### Failures\n\nNone.\n";
  return "\n### Failures\n\n" + markdown_head({"shape", "outcome", "count", "first", "config"}) +
         rows;
}

std::string quality_section(const ReportDevice& device) {
  std::string text =
      "\n### Measurement quality\n\nSpread: half the interquartile range of a configuration over "
      "its "
      "median, median over configurations. Drift: the reference's median in the last quarter of "
      "the "
      "rounds against the first. Placebo: a second copy of the reference in every final round.\n\n";
  text += markdown_head({"shape", "rounds", "samples", "spread", "drift", "placebo noise"});
  for (const ReportShape& shape : device.shapes) {
    const Quality& q = shape.quality;
    text += markdown_row({to_text(shape.summary.winner.problem),
                          std::to_string(q.rounds),
                          std::to_string(q.samples),
                          fmt::format("{:.2f}%", 100 * q.spread),
                          percent_text(q.drift),
                          fmt::format("{:.2f}%", 100 * shape.summary.winner.placebo_noise)});
  }
  return text;
}

}  // namespace

std::string report_markdown(const ReportData& report) {
  std::string text = fmt::format("# Tuning report\n\nDatabase `{}` ({}), {} samples.\n",
                                 report.database.path,
                                 report.database.database_id,
                                 count_text(report.database.samples));
  if (report.devices.empty()) text += "\nNo finished shape yet.\n";
  for (const ReportDevice& device : report.devices) {
    text += '\n';
    for (const auto section :
         {environment_section, answer_section, dose_section, failure_section, quality_section}) {
      text += section(device);
    }
  }
  return text;
}

}  // namespace mla::tools

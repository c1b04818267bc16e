// SPDX-License-Identifier: MIT
#include "tools/report_data.h"

#include <algorithm>
#include <optional>

#include "kernels/spaces.h"
#include "tools/report/series.h"
#include "tuner/prior.h"
#include "tuner/stats.h"

namespace mla::tools {
namespace {

DosePoint point_of(const KernelConfig& config, const Series& series) {
  DosePoint point;
  point.splits = config.splits;
  point.config = config;
  point.samples = static_cast<int64_t>(series.times_us.size());
  const tuner::Quartiles times_us = tuner::quartiles(series.times_us);
  point.time_us = times_us.median;
  point.low_us = times_us.low;
  point.high_us = times_us.high;
  point.gain = series.gains.empty() ? 0 : tuner::median(series.gains);
  return point;
}

bool enough(const DosePoint& point) {
  return point.samples >= static_cast<int64_t>(kEnoughSamples);
}

// Faster; but one that was measured enough beats one that was not.
bool is_better(const DosePoint& a, const DosePoint& b) {
  return enough(a) == enough(b) ? a.time_us < b.time_us : enough(a);
}

std::vector<DosePoint> dose_response(const SeriesByConfig& series) {
  std::map<int32_t, DosePoint> best;
  for (const auto& [config, one] : series) {
    const DosePoint point = point_of(config, one);
    const auto [place, first] = best.try_emplace(point.splits, point);
    if (!first && is_better(point, place->second)) place->second = point;
  }
  std::vector<DosePoint> points;
  for (const auto& entry : best) points.push_back(entry.second);
  return points;
}

double spread_of(const SeriesByConfig& series) {
  std::vector<double> spreads;
  for (const auto& entry : series) {
    const DosePoint point = point_of(entry.first, entry.second);
    if (enough(point)) spreads.push_back((point.high_us - point.low_us) / 2 / point.time_us);
  }
  return spreads.empty() ? 0 : tuner::median(spreads);
}

double drift_of(const std::vector<db::RoundRecord>& rounds, const KernelConfig& reference) {
  std::vector<double> times_us;
  for (const db::RoundRecord& round : rounds) {
    if (const std::optional<double> time_us = reference_time(round, reference)) {
      times_us.push_back(*time_us);
    }
  }
  const auto quarter = static_cast<std::ptrdiff_t>(times_us.size() / 4);
  if (quarter == 0) return 0;
  return tuner::median({times_us.end() - quarter, times_us.end()}) /
             tuner::median({times_us.begin(), times_us.begin() + quarter}) -
         1;
}

ReportShape shape_of(const db::Store& store, const db::TuningSummary& summary) {
  ReportShape shape;
  shape.summary = summary;
  const std::vector<db::RoundRecord> rounds = store.load_rounds(summary.tuning_id);
  const KernelConfig reference = reference_config(rounds, summary.winner);
  const SeriesByConfig series = collect_series(rounds, reference);
  shape.dose = dose_response(series);
  for (const db::OutcomeRecord& record : store.load_outcomes(summary.tuning_id)) {
    if (record.outcome.ok()) continue;
    FailureGroup& group = shape.failures[record.outcome.kind];
    if (group.count++ == 0) {
      group.config = record.config;
      group.text = record.outcome.text;
    }
  }
  shape.losses = store.load_losses(summary.tuning_id);
  shape.quality.rounds = static_cast<int64_t>(rounds.size());
  for (const db::RoundRecord& round : rounds) {
    shape.quality.samples += static_cast<int64_t>(round.samples.size());
  }
  shape.quality.spread = spread_of(series);
  shape.quality.drift = drift_of(rounds, reference);
  return shape;
}

ReportDevice& device_of(const db::TuningSummary& summary, ReportData* report) {
  for (ReportDevice& device : report->devices) {
    if (device_key(device.device) == device_key(summary.device) &&
        device.device.name == summary.device.name && device.environment == summary.environment) {
      return device;
    }
  }
  report->devices.push_back({summary.device, summary.environment, {}, {}, {}, {}});
  return report->devices.back();
}

void add_run(const db::TuningSummary& summary, ReportDevice* device) {
  const auto same = [&](const db::RunInfo& run) {
    return run.started_utc == summary.run.started_utc &&
           run.command_line == summary.run.command_line;
  };
  if (std::none_of(device->runs.begin(), device->runs.end(), same)) {
    device->runs.push_back(summary.run);
  }
  if (std::find(device->protocols.begin(), device->protocols.end(), summary.protocol) ==
      device->protocols.end()) {
    device->protocols.push_back(summary.protocol);
  }
}

// The physics model of the device's times, at the configurations of every curve.
void add_model(ReportDevice* device) {
  if (device->device.relative_times) return;
  const Space space = make_space(device->device);
  std::vector<tuner::Timing> timings;
  for (const ReportShape& shape : device->shapes) {
    for (const DosePoint& point : shape.dose) {
      timings.push_back({shape.summary.winner.problem, point.config, point.time_us});
    }
  }
  const std::optional<tuner::Prior> prior = tuner::Prior::fit(space, timings);
  if (!prior) return;
  for (ReportShape& shape : device->shapes) {
    for (const DosePoint& point : shape.dose) {
      shape.model.push_back({static_cast<double>(point.splits),
                             prior->time_us(space, shape.summary.winner.problem, point.config)});
    }
  }
}

}  // namespace

std::vector<db::WinnerRecord> winners_of(const ReportDevice& device) {
  std::vector<db::WinnerRecord> winners;
  for (const ReportShape& shape : device.shapes) winners.push_back(shape.summary.winner);
  return winners;
}

ReportData gather_report(const db::Store& store) {
  ReportData report;
  report.database = store.info();
  for (const db::TuningSummary& summary : store.summaries()) {
    ReportDevice& device = device_of(summary, &report);
    add_run(summary, &device);
    device.shapes.push_back(shape_of(store, summary));
  }
  for (ReportDevice& device : report.devices) {
    device.summary = summarize(winners_of(device));
    add_model(&device);
  }
  return report;
}

}  // namespace mla::tools

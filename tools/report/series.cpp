// SPDX-License-Identifier: MIT
#include "tools/report/series.h"

#include "tuner/rounds.h"

namespace mla::tools {

std::optional<double> reference_time(const db::RoundRecord& round, const KernelConfig& reference) {
  for (const db::SampleRecord& sample : round.samples) {
    if (sample.outcome == OutcomeKind::kOk && sample.config == reference &&
        sample.role != tuner::kPlaceboRole) {
      return sample.time_us;
    }
  }
  return std::nullopt;
}

SeriesByConfig collect_series(const std::vector<db::RoundRecord>& rounds,
                              const KernelConfig& reference) {
  SeriesByConfig series;
  for (const db::RoundRecord& round : rounds) {
    const std::optional<double> base_us = reference_time(round, reference);
    for (const db::SampleRecord& sample : round.samples) {
      if (sample.outcome != OutcomeKind::kOk || !(sample.time_us > 0)) continue;
      Series& one = series[sample.config];
      one.times_us.push_back(sample.time_us);
      if (base_us) one.gains.push_back(*base_us / sample.time_us - 1);
    }
  }
  return series;
}

KernelConfig reference_config(const std::vector<db::RoundRecord>& rounds,
                              const db::WinnerRecord& winner) {
  for (const db::RoundRecord& round : rounds) {
    for (const db::SampleRecord& sample : round.samples) {
      if (sample.role == winner.reference) return sample.config;
    }
  }
  return winner.default_config;
}

}  // namespace mla::tools

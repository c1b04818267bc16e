// SPDX-License-Identifier: MIT
#include "tuner/search.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/workload.h"
#include "tuner/stats.h"

namespace mla::tuner {
namespace {

struct Series {
  std::vector<double> ratios;
  std::vector<double> times_us;
};

double anchor_time_us(const db::RoundRecord& round, const KernelConfig& anchor) {
  for (const db::SampleRecord& sample : round.samples)
    if (sample.config == anchor && sample.outcome == OutcomeKind::kOk) return sample.time_us;
  return 0;
}

}  // namespace

std::vector<Standing> rank(const std::vector<db::RoundRecord>& rounds, const KernelConfig& anchor) {
  std::unordered_map<KernelConfig, Series> all;
  for (const db::RoundRecord& round : rounds) {
    const double anchor_us = anchor_time_us(round, anchor);
    if (anchor_us <= 0) continue;
    for (const db::SampleRecord& sample : round.samples) {
      if (sample.outcome != OutcomeKind::kOk) continue;
      Series& series = all[sample.config];
      series.ratios.push_back(sample.time_us / anchor_us);
      series.times_us.push_back(sample.time_us);
    }
  }
  std::vector<Standing> standings;
  for (const auto& [config, series] : all)
    standings.push_back({config,
                         median(series.ratios),
                         *std::min_element(series.ratios.begin(), series.ratios.end()),
                         median(series.times_us),
                         static_cast<int>(series.ratios.size())});
  std::sort(standings.begin(), standings.end(), [](const Standing& a, const Standing& b) {
    return a.ratio != b.ratio ? a.ratio < b.ratio : a.config < b.config;
  });
  return standings;
}

size_t keep_count(size_t n) {
  return std::min(n, std::max(kSemifinalists, (n + 2) / 3));
}

std::vector<KernelConfig> survivors(const std::vector<KernelConfig>& live,
                                    const std::vector<Standing>& standings) {
  const std::unordered_set<KernelConfig> competing(live.begin(), live.end());
  std::unordered_set<KernelConfig> kept;
  const size_t count = keep_count(live.size());
  for (const Standing& standing : standings)
    if (kept.size() < count && competing.count(standing.config) != 0) kept.insert(standing.config);
  std::vector<KernelConfig> result;
  for (const KernelConfig& config : live)
    if (kept.count(config) != 0) result.push_back(config);
  return result;
}

bool hopeless(const Standing& standing, double best_ratio) {
  const double factor = standing.rounds >= 2 ? 1.5 : 3.0;
  return standing.fastest > factor * best_ratio;
}

void shuffle(std::vector<KernelConfig>* configs, uint64_t seed) {
  uint64_t state = mix64(seed);
  for (size_t i = configs->size(); i > 1; --i) {
    state = mix64(state);
    std::swap((*configs)[i - 1], (*configs)[state % i]);
  }
}

std::vector<KernelConfig> neighbours(const std::vector<KernelConfig>& configs,
                                     const KernelConfig& center,
                                     int knobs) {
  std::vector<KernelConfig> near;
  for (const KernelConfig& config : configs) {
    const auto different = [&](Knob knob) { return get(config, knob) != get(center, knob); };
    if (std::count_if(kKnobs.begin(), kKnobs.end(), different) == knobs) near.push_back(config);
  }
  return near;
}

size_t leg_at(size_t position, int round, size_t legs) {
  // Short rounds rotate by one leg; long ones by a third, so that three rounds place every leg in
  // each third once and a drift within the round weighs on all alike.
  const size_t step = legs <= 8 ? 1 : legs / kRungRounds + 1;
  return (position + static_cast<size_t>(round) * step) % legs;
}

int64_t planned_search_samples(size_t population, size_t references) {
  size_t samples = 0;
  while (population > kSemifinalists) {
    samples += (population + references) * kRungRounds;
    population = keep_count(population);
  }
  if (population > 0) samples += (population + references) * kSemifinalRounds;
  return static_cast<int64_t>(samples);
}

}  // namespace mla::tuner

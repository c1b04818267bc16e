// SPDX-License-Identifier: MIT
#include "tools/report/evidence.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

namespace mla::tools {
namespace {

std::vector<RankedConfig> ranking(const SeriesByConfig& series) {
  std::vector<RankedConfig> ranked;
  for (const auto& [config, one] : series) {
    if (one.times_us.size() < kEnoughSamples) continue;
    ranked.push_back({config,
                      static_cast<int64_t>(one.times_us.size()),
                      tuner::quartiles(one.times_us),
                      tuner::quartiles(one.gains),
                      static_cast<int64_t>(one.gains.size()),
                      false});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.time_us.median < b.time_us.median;
  });
  for (RankedConfig& one : ranked) one.tie = one.time_us.low <= ranked.front().time_us.high;
  return ranked;
}

// The same configuration without the lever; nothing where it does not pull it.
std::optional<KernelConfig> without(const KernelConfig& config, LeverKind lever) {
  KernelConfig plain = config;
  switch (lever) {
    case LeverKind::kPartialWait:
      plain.wait = Wait::kDrain;
      break;
    case LeverKind::kSplitMajor:
      plain.order = Order::kBatchMajor;
      break;
    case LeverKind::kTiledStage2:
      plain.stage2_tiles = 1;
      break;
    case LeverKind::kPersistent:
      plain.schedule = Schedule::kUniform;
      break;
  }
  if (plain == config) return std::nullopt;
  return plain;
}

KernelConfig without_stage2_warps(KernelConfig config) {
  config.stage2_warps = 0;
  return config;
}

// The fastest sample of each configuration of a round, stage 2's warps left open.
std::unordered_map<KernelConfig, double> fastest_by_plan(const db::RoundRecord& round) {
  std::unordered_map<KernelConfig, double> fastest;
  for (const db::SampleRecord& sample : round.samples) {
    if (sample.outcome != OutcomeKind::kOk || !(sample.time_us > 0)) continue;
    const auto [place, fresh] =
        fastest.try_emplace(without_stage2_warps(sample.config), sample.time_us);
    if (!fresh) place->second = std::min(place->second, sample.time_us);
  }
  return fastest;
}

LeverEffect effect_of(LeverKind lever, const std::vector<db::RoundRecord>& rounds) {
  std::vector<double> gains;
  for (const db::RoundRecord& round : rounds) {
    std::unordered_map<KernelConfig, double> exact;
    for (const db::SampleRecord& sample : round.samples) {
      if (sample.outcome == OutcomeKind::kOk && sample.time_us > 0) {
        exact.emplace(sample.config, sample.time_us);
      }
    }
    const bool stage2 = lever == LeverKind::kTiledStage2;
    const auto times_us = stage2 ? fastest_by_plan(round) : exact;
    for (const auto& [config, time_us] : times_us) {
      const std::optional<KernelConfig> plain = without(config, lever);
      if (!plain) continue;
      const auto other = times_us.find(*plain);
      if (other != times_us.end()) gains.push_back(other->second / time_us - 1);
    }
  }
  return {static_cast<int64_t>(gains.size()), tuner::quartiles(gains)};
}

std::vector<KnobEffect> effects_of(Knob knob,
                                   const SeriesByConfig& series,
                                   const std::vector<RankedConfig>& ranked) {
  std::set<int32_t> values;
  for (const auto& entry : series) values.insert(get(entry.first, knob));
  std::vector<KnobEffect> effects;
  for (const int32_t value : values) {
    KnobEffect effect;
    effect.value = value;
    for (const RankedConfig& one : ranked) {
      if (get(one.config, knob) != value) continue;
      if (effect.configs++ > 0) continue;  // `ranked` begins with the fastest
      effect.loss = one.time_us.median / ranked.front().time_us.median - 1;
    }
    effects.push_back(effect);
  }
  return effects;
}

std::vector<BestSoFar> convergence_of(const std::vector<db::RoundRecord>& rounds,
                                      const std::vector<RankedConfig>& ranked) {
  if (ranked.empty()) return {};
  std::unordered_map<KernelConfig, double> medians_us;
  for (const RankedConfig& one : ranked) medians_us.emplace(one.config, one.time_us.median);
  std::vector<BestSoFar> steps;
  int64_t samples = 0;
  double best_us = std::numeric_limits<double>::infinity();
  for (const db::RoundRecord& round : rounds) {
    for (const db::SampleRecord& sample : round.samples) {
      ++samples;
      const auto known = medians_us.find(sample.config);
      if (known == medians_us.end() || known->second >= best_us) continue;
      best_us = known->second;
      steps.push_back({samples, best_us / ranked.front().time_us.median - 1});
    }
  }
  steps.push_back({samples, 0});
  return steps;
}

double first_sample_of(const SeriesByConfig& series, const std::vector<RankedConfig>& ranked) {
  std::vector<double> effects;
  for (const RankedConfig& one : ranked) {
    const std::vector<double>& times_us = series.at(one.config).times_us;
    effects.push_back(times_us.front() / tuner::median({times_us.begin() + 1, times_us.end()}) - 1);
  }
  return tuner::median(effects);
}

}  // namespace

const char* title(LeverKind lever) {
  switch (lever) {
    case LeverKind::kPartialWait:
      return "partial wait";
    case LeverKind::kSplitMajor:
      return "split-major order";
    case LeverKind::kTiledStage2:
      return "tiled stage 2";
    case LeverKind::kPersistent:
      return "persistent schedule";
  }
  return "";
}

Evidence gather_evidence(const std::vector<db::RoundRecord>& rounds,
                         const db::WinnerRecord& winner) {
  const SeriesByConfig series = collect_series(rounds, reference_config(rounds, winner));
  Evidence evidence;
  evidence.ranked = ranking(series);
  for (const LeverKind lever : kLeverKinds) {
    evidence.levers[static_cast<size_t>(lever)] = effect_of(lever, rounds);
  }
  for (const Knob knob : kKnobs) {
    const std::vector<KnobEffect> effects = effects_of(knob, series, evidence.ranked);
    if (effects.size() > 1) evidence.knobs.emplace(knob, effects);
  }
  evidence.convergence = convergence_of(rounds, evidence.ranked);
  evidence.first_sample = first_sample_of(series, evidence.ranked);
  return evidence;
}

}  // namespace mla::tools

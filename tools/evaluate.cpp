// SPDX-License-Identifier: MIT
#include "tools/evaluate.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "policy/default_policy.h"
#include "tools/results.h"
#include "tuner/search.h"
#include "tuner/stats.h"

namespace mla::tools {
namespace {

// Samples of the exhaustive search, apart from those of any tuning.
constexpr int32_t kExhaustiveRung = 1000;
constexpr double kSlowerAlpha = 0.01;  // of all shapes together

bool same_stage1(KernelConfig a, const KernelConfig& b) {
  a.stage2_tiles = b.stage2_tiles;
  a.stage2_warps = b.stage2_warps;
  return a == b;
}

bool same_stage2(const KernelConfig& a, const KernelConfig& b) {
  return a.stage2_tiles == b.stage2_tiles && a.stage2_warps == b.stage2_warps;
}

struct Measured {
  KernelConfig config;
  double time_us = 0;  // median
};

class Exhaustive {
 public:
  Exhaustive(tuner::CandidateSource& source, const Problem& problem, const std::atomic<bool>& stop)
      : source_(source), stop_(stop), listed_(source.list(problem).configs) {}

  // All that is listed; where that is too much, every stage 1 at the answer's stage 2 and then
  // every stage 2 at the best stage 1. Fastest first.
  std::vector<Measured> search(const KernelConfig& answer, uint64_t seed) {
    std::vector<KernelConfig> first = listed_;
    if (first.size() > kExhaustiveConfigs) {
      std::erase_if(first,
                    [&](const KernelConfig& c) { return c.splits > 1 && !same_stage2(c, answer); });
      tuner::shuffle(&first, seed);
      if (first.size() > kExhaustiveConfigs) first.resize(kExhaustiveConfigs);
    }
    measure_all({answer});  // likely among the fastest
    measure_all(first);
    if (!measured_.empty()) {
      const KernelConfig best = sorted().front().config;
      std::vector<KernelConfig> second = listed_;
      std::erase_if(second, [&](const KernelConfig& c) { return !same_stage1(c, best); });
      measure_all(second);
    }
    return sorted();
  }

 private:
  std::vector<Measured> sorted() const {
    std::vector<Measured> all = measured_;
    std::sort(all.begin(), all.end(), [](const Measured& a, const Measured& b) {
      return a.time_us != b.time_us ? a.time_us < b.time_us : a.config < b.config;
    });
    return all;
  }

  void measure_all(const std::vector<KernelConfig>& configs) {
    for (const KernelConfig& config : configs) {
      if (stop_) return;
      if (seen_.insert(config).second) measure(config);
    }
  }

  void measure(const KernelConfig& config) {
    if (!source_.admit(config, false).ok()) return;
    std::vector<double> times_us;
    for (int32_t i = 0; i < kExhaustiveSamples; ++i) {
      const TimedRun run = source_.sample(config, {db::Phase::kSearch, kExhaustiveRung, i, 0});
      if (!run.outcome.ok()) return;
      times_us.push_back(run.time_us);
      if (i == 0 && run.time_us > kHopeless * fastest_us_) break;
    }
    measured_.push_back({config, tuner::median(times_us)});
    fastest_us_ = std::min(fastest_us_, measured_.back().time_us);
  }

  tuner::CandidateSource& source_;
  const std::atomic<bool>& stop_;
  std::vector<KernelConfig> listed_;
  std::unordered_set<KernelConfig> seen_;
  std::vector<Measured> measured_;
  double fastest_us_ = std::numeric_limits<double>::infinity();
};

// The default first, as it is what outputs are checked against; each configuration once.
std::vector<KernelConfig> retimed(const KernelConfig& default_config,
                                  const KernelConfig& answer,
                                  const std::vector<Measured>& fastest) {
  std::vector<KernelConfig> legs = {default_config};
  if (answer != default_config) legs.push_back(answer);
  for (size_t i = 0; i < std::min(fastest.size(), kRetimed); ++i) {
    const KernelConfig& config = fastest[i].config;
    if (std::find(legs.begin(), legs.end(), config) == legs.end()) legs.push_back(config);
  }
  return legs;
}

void judge(const Comparison& compared, EvaluatedShape* shape) {
  const CompareLeg& reference = compared.legs.front();
  const CompareLeg& answer =
      shape->answer.config == shape->default_config ? reference : compared.legs[1];
  if (!reference.outcome.ok() || !answer.outcome.ok()) {
    const Outcome& outcome = reference.outcome.ok() ? answer.outcome : reference.outcome;
    shape->failure = std::string(name(outcome.kind)) + ": " + outcome.text;
    return;
  }
  shape->answer_us = shape->best_us = answer.time_us;
  shape->best = answer.config;
  shape->default_us = reference.time_us;
  for (const CompareLeg& leg : compared.legs) {
    if (leg.role != "candidate" && &leg != &reference) continue;
    if (!leg.outcome.ok() || &leg == &answer) continue;
    const double regret = tuner::median(round_gains(answer, leg));
    if (regret <= shape->regret) continue;
    shape->regret = regret;
    shape->best = leg.config;
    shape->best_us = leg.time_us;
  }
  if (&answer == &reference) return;
  const std::vector<double> gains = round_gains(reference, answer);
  shape->gain = tuner::median(gains);
  const auto slower = std::count_if(gains.begin(), gains.end(), [](double g) { return g < 0; });
  shape->slower_p = tuner::sign_test_p(static_cast<int>(slower), static_cast<int>(gains.size()));
}

}  // namespace

EvaluatedShape evaluate_shape(tuner::CandidateSource& source,
                              const policy::LookupTable& table,
                              const Problem& problem,
                              const CompareOptions& options,
                              const std::atomic<bool>& stop) {
  EvaluatedShape shape;
  shape.problem = problem;
  shape.answer = table.find(problem);
  shape.default_config = policy::DefaultPolicy(source.space())(problem);
  Outcome outcome = source.select(problem, options.seed);
  if (outcome.ok()) outcome = source.admit(shape.default_config, true);
  if (!outcome.ok()) {
    shape.failure = std::string(name(outcome.kind)) + ": " + outcome.text;
    return shape;
  }
  const std::vector<Measured> fastest =
      Exhaustive(source, problem, stop).search(shape.answer.config, options.seed);
  shape.configs = static_cast<int64_t>(fastest.size());
  const Comparison compared = compare(
      source, problem, retimed(shape.default_config, shape.answer.config, fastest), options, stop);
  if (compared.complete) {
    judge(compared, &shape);
  } else {
    shape.failure = "stopped";
  }
  return shape;
}

EvaluationSummary summarize(const std::vector<EvaluatedShape>& shapes) {
  EvaluationSummary summary;
  std::vector<double> regrets, gains;
  for (const EvaluatedShape& shape : shapes) {
    if (!shape.failure.empty()) {
      ++summary.failed;
      continue;
    }
    ++summary.by_source[static_cast<size_t>(shape.answer.source)];
    regrets.push_back(shape.regret);
    gains.push_back(shape.gain);
  }
  summary.shapes = static_cast<int64_t>(regrets.size());
  if (regrets.empty()) return summary;
  for (const EvaluatedShape& shape : shapes) {
    const bool slower = shape.failure.empty() &&
                        shape.slower_p < kSlowerAlpha / static_cast<double>(summary.shapes);
    summary.slower += slower ? 1 : 0;
  }
  summary.median_regret = tuner::median(regrets);
  summary.p95_regret = tuner::quantile(regrets, 0.95);
  summary.worst_regret = tuner::quantile(regrets, 1);
  summary.geomean_gain = geomean_gain(gains);
  return summary;
}

}  // namespace mla::tools

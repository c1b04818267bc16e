// SPDX-License-Identifier: MIT
#include "tuner/crossing.h"

#include <algorithm>
#include <map>

#include "policy/carried.h"
#include "policy/default_policy.h"
#include "policy/selection.h"
#include "policy/shape_grid.h"
#include "tuner/final.h"
#include "tuner/guard.h"
#include "tuner/stats.h"

namespace mla::tuner {
namespace {

double time_us(const db::RoundRecord& round, const std::string& role, const KernelConfig& config) {
  for (const db::SampleRecord& sample : round.samples)
    if (sample.role == role && sample.config == config && sample.outcome == OutcomeKind::kOk)
      return sample.time_us;
  return 0;
}

double default_us(const db::RoundRecord& round) {
  for (const db::SampleRecord& sample : round.samples)
    if (sample.role == kDefaultRole && sample.outcome == OutcomeKind::kOk) return sample.time_us;
  return 0;
}

double placebo_noise(const std::vector<db::RoundRecord>& rounds) {
  std::vector<double> noise;
  for (const db::RoundRecord& round : rounds)
    for (const db::SampleRecord& sample : round.samples)
      if (sample.role == kPlaceboRole && sample.time_us > 0 && default_us(round) > 0)
        noise.push_back(std::abs(sample.time_us / default_us(round) - 1));
  return median(std::move(noise));
}

// Those that could be measured.
bool all_decided(const std::vector<db::LossRecord>& losses) {
  return std::all_of(losses.begin(), losses.end(), [](const db::LossRecord& loss) {
    return loss.rounds == 0 || decided(loss, policy::kCarriedLossBound);
  });
}

}  // namespace

bool decided(const db::LossRecord& loss, float bound) {
  const double error = policy::median_error(loss.placebo_noise, loss.rounds);
  return loss.rounds > 0 && policy::above_noise(loss.loss, error, bound);
}

bool holds(const db::LossRecord& loss) {
  return loss.rounds > 0 && loss.loss <= policy::kCarriedLossBound;
}

std::vector<KernelConfig> carried_to(const CrossPoint& at, const CrossPoint& from) {
  std::vector<KernelConfig> configs;
  for (const KernelConfig& form : policy::carried(from.config, from.default_config, from.problem)) {
    configs.push_back(policy::at_shape(form, at.default_config, at.problem));
  }
  return configs;
}

CrossPoint cross_point(const db::WinnerRecord& winner, int64_t tuning_id, bool here) {
  CrossPoint point;
  point.problem = winner.problem;
  point.tuning_id = tuning_id;
  point.here = here;
  point.usable = winner.verdict != db::Verdict::kFailed && winner.reference == kDefaultRole &&
                 winner.status == db::WinnerStatus::kActive;
  point.wins = winner.verdict == db::Verdict::kFaster;
  point.gain = winner.gain;
  point.config = winner.config;
  point.default_config = winner.default_config;
  return point;
}

std::vector<KernelConfig> plan_candidates(const std::vector<CrossPoint>& lengths,
                                          const Space& space) {
  Problem unknown = lengths.front().problem;
  unknown.seq_len = 0;
  const policy::DefaultPolicy default_policy(space);
  std::vector<KernelConfig> configs = {default_policy(unknown)};
  const auto add = [&configs](const KernelConfig& config) {
    if (std::find(configs.begin(), configs.end(), config) == configs.end())
      configs.push_back(config);
  };
  for (const KernelConfig& config : default_policy.of_each_width(unknown)) add(config);
  add(lengths.back().default_config);
  for (const CrossPoint& point : lengths)
    if (point.wins) add(point.config);
  return configs;
}

std::vector<CrossTask> plan_crossing(
    const std::vector<CrossPoint>& points,
    const std::vector<std::vector<size_t>>& groups,
    const Space& space,
    const std::function<bool(size_t point, const KernelConfig& config)>& known) {
  std::vector<policy::GridPoint> grid;
  for (const CrossPoint& point : points) grid.push_back(policy::grid_point(point.problem));
  std::map<size_t, std::vector<KernelConfig>> wanted;
  const auto want = [&](size_t at, const KernelConfig& config) {
    const CrossPoint& point = points[at];
    if (config == point.default_config || (point.wins && config == point.config)) return;
    std::vector<KernelConfig>& configs = wanted[at];
    if (std::find(configs.begin(), configs.end(), config) != configs.end()) return;
    if (space.violation(point.problem, config) || known(at, config)) return;
    configs.push_back(config);
  };
  const auto want_each = [&](const std::vector<size_t>& group) {
    for (const size_t from : group)
      for (const size_t at : group)
        if (points[from].wins)
          for (const KernelConfig& config : carried_to(points[at], points[from])) want(at, config);
  };
  policy::for_each_cell(grid, [&](const policy::GridCell& cell) {
    bool here = false;
    for (const size_t corner : cell.corners) {
      if (!points[corner].usable) return;
      here = here || points[corner].here;
    }
    if (here) want_each(cell.corners);
  });
  for (const std::vector<size_t>& group : groups) {
    std::vector<CrossPoint> lengths;
    for (const size_t point : group) lengths.push_back(points[point]);
    for (const KernelConfig& config : plan_candidates(lengths, space))
      for (const size_t at : group) want(at, config);
  }
  std::vector<CrossTask> tasks;
  for (auto& [point, configs] : wanted)
    if (!configs.empty()) tasks.push_back({point, std::move(configs)});
  return tasks;
}

std::vector<db::LossRecord> judge_crossing(const std::vector<KernelConfig>& configs,
                                           const std::vector<db::RoundRecord>& rounds) {
  const double noise = placebo_noise(rounds);
  std::vector<db::LossRecord> losses;
  for (const KernelConfig& config : configs) {
    db::LossRecord& record = losses.emplace_back();
    record.config = config;
    std::vector<double> ratios;
    int32_t wins = 0, lost = 0;
    for (const db::RoundRecord& round : rounds) {
      const double own_us = time_us(round, kCandidateRole, config),
                   reference_us = default_us(round);
      if (own_us <= 0 || reference_us <= 0) continue;
      ratios.push_back(own_us / reference_us - 1);
      wins += reference_us / own_us - 1 > kGuardMargin;
      lost += reference_us / own_us - 1 < -kGuardMargin;
    }
    if (ratios.size() < std::max(rounds.size(), size_t{kCrossRounds})) continue;
    record.rounds = static_cast<int32_t>(ratios.size());
    record.wins = wins;
    record.losses = lost;
    record.placebo_noise = noise;
    const Quartiles spread = quartiles(std::move(ratios));
    record.loss = spread.median;
    record.loss_low = spread.low;
    record.loss_high = spread.high;
  }
  return losses;
}

std::vector<db::LossRecord> measure_crossing(SourceMeter& meter,
                                             db::Store* store,
                                             const CrossPoint& point,
                                             const CrossTask& task,
                                             uint64_t seed,
                                             Clock::time_point deadline,
                                             const std::function<void(int round)>& on_round,
                                             const std::atomic<bool>& stop) {
  if (stop || Clock::now() >= deadline || !meter.select(point.problem, seed).ok()) return {};
  Admission admission(meter, store, point.tuning_id, [](const KernelConfig&, const Outcome&) {});
  if (!admission.admit_first(point.default_config).ok()) return {};
  std::vector<Leg> legs = {{point.default_config, kDefaultRole},
                           {point.default_config, kPlaceboRole}};
  for (const KernelConfig& config : task.configs)
    if (admission.admit(config).ok()) legs.push_back({config, kCandidateRole});

  RoundBook book(meter, admission, store, point.tuning_id, stop);
  const int32_t attempt = book.next_attempt(db::Phase::kCross);
  std::vector<db::RoundRecord> rounds;
  bool ended = false;
  // Without a candidate there is nothing to compare, and every loss is of 0 rounds.
  for (int32_t i = 0; i < kMostCrossRounds && legs.size() > 2; ++i) {
    const bool again = i >= kCrossRounds;
    if (again && i % kCrossRounds == 0 && all_decided(judge_crossing(task.configs, rounds))) break;
    db::RoundRecord round;
    if (book.obtain({db::Phase::kCross, 0, i, attempt}, legs, deadline, &round) !=
        RoundEnd::kComplete) {
      if (!again) return {};
      ended = true;
      break;
    }
    rounds.push_back(std::move(round));
    if (admission.failed(point.default_config)) return {};
    std::erase_if(legs, [&](const Leg& leg) { return admission.failed(leg.config); });
    on_round(i);
  }
  std::vector<db::LossRecord> losses = judge_crossing(task.configs, rounds);
  if (ended) {
    std::erase_if(losses, [](const db::LossRecord& loss) {
      return !decided(loss, policy::kCarriedLossBound);
    });
  }
  if (store != nullptr) store->save_losses(point.tuning_id, losses);
  return losses;
}

}  // namespace mla::tuner

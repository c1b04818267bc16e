// SPDX-License-Identifier: MIT
// Guard point 2 at tuning time: the winner of each tuned shape is measured against the default at
// the shapes around it, so that a lookup between them knows where it loses. Planning is a pure
// function of the grid; measuring adds rounds and losses to the tuning of the shape it ran at.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "tuner/rounds.h"

namespace mla::tuner {

inline constexpr int kCrossRounds = 15;  // as many as the guard's first look
// Where noise leaves it open whether a loss is within the bound.
inline constexpr int kMostCrossRounds = 30;

// A tuned shape of the grid.
struct CrossPoint {
  Problem problem;
  int64_t tuning_id = 0;
  bool usable = true;  // false: a lookup asks nothing of its surroundings, so nothing is measured
  bool here = true;    // of this session; cells without such a corner are another session's
  bool wins = false;   // `config` beat the default, by `gain`
  double gain = 0;
  KernelConfig config;
  KernelConfig default_config;
};

CrossPoint cross_point(const db::WinnerRecord& winner, int64_t tuning_id, bool here);

// The winner of one point as a lookup might launch it at another (policy/carried.h).
std::vector<KernelConfig> carried_to(const CrossPoint& at, const CrossPoint& from);

// What a plan for one batch at unknown length is chosen among: the default of unknown length first,
// the same in other row groups, that of the longest one, and the winners. `lengths`: points that
// differ in the length alone, ascending.
std::vector<KernelConfig> plan_candidates(const std::vector<CrossPoint>& lengths,
                                          const Space& space);

// What is to be measured at one point.
struct CrossTask {
  size_t point = 0;
  std::vector<KernelConfig> configs;
};

// For every cell (policy/shape_grid.h) the winner of each corner at every other corner, in the form
// in which it is carried there, and for each of `groups` its plan_candidates() at every length;
// less what is not legal there, what is known and what is the default. Points in the order of
// `points`.
std::vector<CrossTask> plan_crossing(
    const std::vector<CrossPoint>& points,
    const std::vector<std::vector<size_t>>& groups,
    const Space& space,
    const std::function<bool(size_t point, const KernelConfig& config)>& known);

// Whether it was measured, and well enough to be compared with a bound (policy/selection.h).
bool decided(const db::LossRecord& loss, float bound);
// Whether it loses nothing, as far as anyone can tell. A lookup asks more of a carried winner
// (kLeastCarriedGain).
bool holds(const db::LossRecord& loss);

// The losses that the rounds show. A configuration without a whole set of rounds has 0 of them.
std::vector<db::LossRecord> judge_crossing(const std::vector<KernelConfig>& configs,
                                           const std::vector<db::RoundRecord>& rounds);

// Measures one task; `store` may be null. Nothing is returned or kept where the default cannot be
// measured, and only what is decided where the time or a stop ends it.
std::vector<db::LossRecord> measure_crossing(SourceMeter& meter,
                                             db::Store* store,
                                             const CrossPoint& point,
                                             const CrossTask& task,
                                             uint64_t seed,
                                             Clock::time_point deadline,
                                             const std::function<void(int round)>& on_round,
                                             const std::atomic<bool>& stop);

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// Guard point 1: whether a finalist may replace the reference it was paired with, as a pure
// function of the rounds. A round is won where the finalist is faster by more than the margin and
// lost where it is slower by more than the margin.
//
// Three looks share a total alpha of 0.01: accepted at 13 of 15, 23 of 30 or 41 of 60 wins (0.8 %
// false accepts at a true gain equal to the margin, by simulation); "slower" by the same counts of
// losses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "db/record.h"

namespace mla::tuner {

inline constexpr double kGuardMargin = 0.005;

struct Look {
  int rounds;
  int needed;
};
inline constexpr std::array<Look, 3> kLooks = {{{15, 13}, {30, 23}, {60, 41}}};

struct PairedRound {
  double reference_us = 0;
  double finalist_us = 0;
};

enum class GuardState { kAccepted, kSlower, kUndecided, kNeedMoreRounds };

struct GuardDecision {
  GuardState state = GuardState::kNeedMoreRounds;
  int rounds = 0;  // rounds that were looked at
  int wins = 0;
  int losses = 0;
  double gain = 0;      // median of reference / finalist - 1
  double gain_low = 0;  // quartiles
  double gain_high = 0;
  double p_value = 1;  // one-sided sign test at the look that decided
};

// Looks at 15, 30 and 60 rounds in turn and stops at the first that decides. kNeedMoreRounds below
// 15, 30, 60; kUndecided at 60 or where no later look can decide any more. Times that are not
// finite and positive are an Error(kInternal).
GuardDecision decide(const std::vector<PairedRound>& rounds, double margin = kGuardMargin);

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// A final as a pure function of its rounds: which legs it has, when it may end, and what is stored.
#pragma once

#include <optional>
#include <vector>

#include "tuner/guard.h"
#include "tuner/rounds.h"

namespace mla::tuner {

// Legs of a final, at most.
inline constexpr int kFinalLegs = 4;

// A configuration that candidates are compared with. The first that can be measured is the
// reference.
struct Baseline {
  std::string role;  // "default" or "drained"
  KernelConfig config;
};

struct FinalPlan {
  Baseline reference;
  std::optional<KernelConfig> finalist;  // nothing: no candidate could be measured
  std::optional<Baseline> other;         // a second baseline, where it is another configuration
  int rounds = 60;                       // at most
};

// The candidate, the reference, its placebo and the other baseline.
std::vector<Leg> final_legs(const FinalPlan& plan);

// The largest of the guard's looks within `final_rounds`. Throws Error(kUsage) below the first.
int usable_final_rounds(int final_rounds);

// Whether the rounds so far are enough for a verdict, and the guard's view of them.
bool final_complete(const FinalPlan& plan, const std::vector<db::RoundRecord>& rounds);

// The verdict over at least kLooks[0].rounds rounds; those after the last look do not count.
// Fills everything that rounds tell; problem, workspace and counts are the caller's.
db::WinnerRecord judge(const FinalPlan& plan, const std::vector<db::RoundRecord>& rounds);

}  // namespace mla::tuner

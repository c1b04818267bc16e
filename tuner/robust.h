// SPDX-License-Identifier: MIT
// A plan for a batch whose lengths are not known, as for a graph that is captured once and replayed
// while its requests grow: of the winners at the lengths of a distribution the one with the least
// worst-case regret, among those that at none of them are slower than what the default policy
// answers without a length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/crossing.h"

namespace mla::tuner {

// What is taken where nothing is declared: 1,024 to 131,072 rows, each octave alike.
std::vector<LengthShare> default_lengths();

// "1024:1 2048:0.5", part of the protocol of a plan.
std::string lengths_text(const std::vector<LengthShare>& lengths);

// As a plan's protocol names them; empty where it names none.
std::vector<LengthShare> plan_lengths(std::string_view protocol);
// What is added to a protocol for that.
std::string plan_protocol(const std::vector<LengthShare>& lengths);

// One batch at every length of the distribution: indices of points in the order of `lengths`.
using LengthGroup = std::vector<size_t>;

// The groups of `points` that are whole and usable.
std::vector<LengthGroup> length_groups(const std::vector<CrossPoint>& points,
                                       const std::vector<LengthShare>& lengths);

// A shape of the group with all that was measured there against its default.
struct RobustPoint {
  CrossPoint point;
  std::vector<db::LossRecord> losses;  // of other shapes' winners
};

struct RobustChoice {
  KernelConfig config;
  KernelConfig default_config;  // of unknown length
  double worst_regret = 0;      // over the best of each length
  double worst_gain = 0;        // over the default, at the length where it is least
  double best_gain = 0;
  double mean_gain = 0;  // geometric, by shares
};

// The default where no winner is known to hold at every length. Nothing where a winner that is
// legal at a length has not been tried there yet.
std::optional<RobustChoice> choose_robust(const std::vector<RobustPoint>& group,
                                          const std::vector<LengthShare>& lengths,
                                          const Space& space);

// The choice as it is stored, under `problem` with an unknown length.
db::WinnerRecord robust_winner(const Problem& problem, const RobustChoice& choice);

}  // namespace mla::tuner

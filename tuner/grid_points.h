// SPDX-License-Identifier: MIT
// Where to measure: which shapes a grid lacks, and in which order its shapes are tuned so that a
// budget that ends early has done the riskiest ones.
#pragma once

#include <vector>

#include "db/record.h"
#include "tuner/crossing.h"

namespace mla::tuner {

// The share of the device that the default leaves idle in its waves: few waves with a nearly empty
// last one are where a formula's pockets are.
double wave_risk(const Space& space, const Problem& problem);

// By wave_risk(), ties in the given order.
std::vector<Problem> riskiest_first(const Space& space, std::vector<Problem> problems);

// Batches on both sides of a step of the default's time between two batches of the grid: the last
// before and the first behind one more wave or one split less. In the order of `problems`, without
// those that are there already.
std::vector<Problem> wave_edge_points(const Space& space, const std::vector<Problem>& problems);

// The middle, in batch or in length, of neighbouring points whose winners lose to the default at
// each other, where any shape fits between; riskiest first. `losses` are those measured at a point.
std::vector<Problem> disagreement_points(
    const Space& space,
    const std::vector<CrossPoint>& points,
    const std::function<const std::vector<db::LossRecord>&(size_t point)>& losses);

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// Successive halving as pure functions of the rounds: who is ahead, who stays, who is near, in
// which order legs run. A configuration is judged by the median over rounds of its time divided by
// the anchor's time of the same round, so that drift cancels and a few outliers do not steer the
// search.
#pragma once

#include <cstdint>
#include <vector>

#include "db/record.h"

namespace mla::tuner {

// Rounds of one rung: the fewest whose median shrugs off one outlier.
inline constexpr int kRungRounds = 3;
// Candidates that the semifinal compares on rounds of its own.
inline constexpr size_t kSemifinalists = 6;
inline constexpr int kSemifinalRounds = 9;

struct Standing {
  KernelConfig config;
  double ratio = 0;    // median of time / anchor's time; below 1 is faster
  double fastest = 0;  // smallest of the same
  double time_us = 0;  // median
  int rounds = 0;      // that hold a time of both
};

// Every configuration with a ratio, fastest first; ties in knob order.
std::vector<Standing> rank(const std::vector<db::RoundRecord>& rounds, const KernelConfig& anchor);

// Candidates of `n` that stay after a rung: a third, and never fewer than a semifinal holds.
size_t keep_count(size_t n);

// Those of `live` that stay, in the order of `live`. One without a standing does not stay.
std::vector<KernelConfig> survivors(const std::vector<KernelConfig>& live,
                                    const std::vector<Standing>& standings);

// Hopeless: slower than 1.5 x the best in every one of at least two rounds, or than 3 x in one (a
// single reading may be an interruption).
bool hopeless(const Standing& standing, double best_ratio);

// A seeded permutation, the same on every machine.
void shuffle(std::vector<KernelConfig>* configs, uint64_t seed);

// Of `configs`, those that differ from `center` in so many knobs.
std::vector<KernelConfig> neighbours(const std::vector<KernelConfig>& configs,
                                     const KernelConfig& center,
                                     int knobs);

// Which leg runs at `position` of `round`. A rung's rounds spread each leg over the whole round.
size_t leg_at(size_t position, int round, size_t legs);

// Samples of all rungs and the semifinal for a population, with `references` legs in every round.
int64_t planned_search_samples(size_t population, size_t references);

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// Guard point 2: which of the winners around a cell may be used inside it, as a pure function of
// the evidence at its corners. A winner may where it gains kLeastCarriedGain at every corner, in
// the form in which it is carried there (carried.h); an unmeasured loss counts as infinite, and
// where that form is the default it gains nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "policy/shape_table.h"

namespace mla::policy {

// Of time / default's time - 1, by the median of paired rounds: what the guard's margin leaves
// open.
inline constexpr float kLossBound = 0.005f;

// The same of a winner at the corners of a cell: what is above is a loss, which noise is held
// against; of the others kLeastCarriedGain is asked. What is a little slower at one
// of them is slower at places inside: of 19 held-out shapes of an H200 that got a carried winner it
// was behind the default at 5, by 1.3 % at one for certain. Two of these 5, that one too, had lost
// at a corner, by less than 0.3 %; none of the 14 others had.
inline constexpr float kCarriedLossBound = 0;

// What a winner gains at least wherever it was measured, to be used at another shape. Of 700
// held-out shapes of an H200 with a carried winner 9 were certainly slower than the default (sign
// test at 0.01 / 200): 7 of the 257 whose gain is below this at some corner of the cell, none of
// the 298 others in cells, and two in a bucket, whose winner has another kernel than the default.
inline constexpr float kLeastCarriedGain = 0.015f;

// Standard error of the median of `rounds` paired ratios, from the median deviation of the
// placebo's ratio in a round: 1.4826 makes that a standard deviation, and a median varies 1.2533
// times as much as a mean (both of a normal distribution).
inline double median_error(double placebo_noise, int32_t rounds) noexcept {
  return 1.4826 * 1.2533 * placebo_noise / std::sqrt(std::max(rounds, 1));
}

// Whether a measured loss may be compared with a bound: its error is within the guard's margin, or
// does not reach across the bound.
inline bool above_noise(double loss, double error, float bound) noexcept {
  return error <= double{kLossBound} || std::abs(loss - double{bound}) >= error;
}

struct KnownLoss {
  uint64_t config = 0;  // pack_config()
  float loss = 0;
  float error = 0;  // median_error()
};

// A tuned shape with what was measured there.
struct Corner {
  ShapeEntry entry;
  Problem problem;
  uint64_t default_config = 0;  // pack_config() of the live default
  float error = 0;              // of the entry's gain, median_error()
  // False where the entry is no evidence about its neighbourhood: its gain is over another baseline
  // than the live default, or several rows share its key.
  bool carries = true;
  std::vector<KnownLoss> losses;
};

// Why nothing may be used, the first that applies.
enum class Refusal : uint8_t {
  kNone,
  kNoAnswer,     // a corner is demoted, failed, or does not carry
  kStale,        // a corner has to be verified again
  kLoses,        // a winner loses at a neighbour
  kNoisy,        // a gain or loss is within the noise of its measurement
  kSmallGain,    // it gains less than kLeastCarriedGain at a corner
  kNotMeasured,  // no winner was measured at every corner
};

struct Selection {
  // Best first, by the worst corner. Their gain is that at the worst corner, their configuration
  // the carried one. One entry with kDefaultBest where no corner has a winner.
  std::vector<ShapeEntry> candidates;
  Refusal refusal = Refusal::kNone;  // where there are no candidates
};

Selection select_between(const std::vector<Corner>& corners);

}  // namespace mla::policy

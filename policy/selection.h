// SPDX-License-Identifier: MIT
// Guard point 2: which of the winners around a cell may be used inside it, as a pure function of
// the evidence at its corners. A winner may where its loss against the default is known and within
// the bound at every corner, in the form in which it is carried there (carried.h); an unmeasured
// loss counts as infinite.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/shape_table.h"

namespace mla::policy {

// Of time / default's time - 1, by the median of paired rounds: what the guard's margin leaves
// open.
inline constexpr float kLossBound = 0.005f;
// Where the placebo moved by more than this, which is also where a run warns, only a gain above
// what it moved by says something.
inline constexpr float kMaxPlaceboNoise = 0.01f;

// Whether a measured loss may be compared with the bound.
constexpr bool above_noise(double loss, double placebo_noise) noexcept {
  return placebo_noise <= double{kMaxPlaceboNoise} || loss < -placebo_noise;
}

struct KnownLoss {
  uint64_t config = 0;  // pack_config()
  float loss = 0;
  float placebo_noise = 0;
};

// A tuned shape with what was measured there.
struct Corner {
  ShapeEntry entry;
  Problem problem;              // its batch, heads and query positions
  uint64_t default_config = 0;  // pack_config() of the live default
  float placebo_noise = 0;      // of the final behind the entry's gain
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

// SPDX-License-Identifier: MIT
// What the rounds of a shape say beyond its winner: the runners-up, what each lever and each value
// of a knob is worth, how soon the search was done, and what the first sample costs. Numbers only;
// the page's sections draw them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/record.h"
#include "tools/report/series.h"
#include "tuner/stats.h"

namespace mla::tools {

// Of configurations with kEnoughSamples or more.
struct RankedConfig {
  KernelConfig config;
  int64_t samples = 0;
  tuner::Quartiles time_us;
  tuner::Quartiles gain;  // over the reference, in the same rounds
  int64_t paired = 0;     // rounds behind `gain`
  bool tie = false;       // its interval reaches into that of the first
};

// One step of a knob away from its drained, plain value, all other knobs alike (stage 2's warps
// follow its tiles), both in the same round.
enum class LeverKind { kPartialWait, kSplitMajor, kTiledStage2, kPersistent };
inline constexpr std::array<LeverKind, 4> kLeverKinds = {LeverKind::kPartialWait,
                                                         LeverKind::kSplitMajor,
                                                         LeverKind::kTiledStage2,
                                                         LeverKind::kPersistent};
const char* title(LeverKind lever);  // "partial wait"

struct LeverEffect {
  int64_t pairs = 0;
  tuner::Quartiles gain;  // over the pairs
};

// The fastest configuration that holds this value, against the fastest of all.
struct KnobEffect {
  int32_t value = 0;
  int64_t configs = 0;  // with kEnoughSamples or more; 0: all were dropped earlier
  double loss = 0;      // time / the fastest time - 1
};

// From this number of samples on, the best configuration measured so far loses this much to the
// best of all; both by the median of all their samples, also later ones.
struct BestSoFar {
  int64_t samples = 0;
  double loss = 0;
};

struct Evidence {
  std::vector<RankedConfig> ranked;  // fastest first
  std::array<LeverEffect, kLeverKinds.size()> levers;
  std::map<Knob, std::vector<KnobEffect>> knobs;  // only those that were varied
  std::vector<BestSoFar> convergence;
  double first_sample = 0;  // median over `ranked` of first / median of the later samples - 1
};

inline constexpr size_t kRankedConfigs = 10;  // that a page lists

Evidence gather_evidence(const std::vector<db::RoundRecord>& rounds,
                         const db::WinnerRecord& winner);

}  // namespace mla::tools

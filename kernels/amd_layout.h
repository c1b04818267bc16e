// SPDX-License-Identifier: MIT
// LDS of the workgroups on AMD, as numbers for host and device. Of stage 1: the copy ring, the
// exchange of partial scores, and the prefetched page numbers; four waves share a block of tile_n
// KV rows. Of stage 2: the sums of the classes that the splits are dealt over.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

inline constexpr int kWaveLanes = 64;
inline constexpr int kStage1Waves = 4;
inline constexpr int kLdsRowBytes = 2 * kHeadDim;  // of a KV row, without gaps

struct AmdLayout {
  int tile_n;
  int stages;

  constexpr int stage_bytes() const { return tile_n * kLdsRowBytes; }
  // fp32 scores of 16 heads x 16 rows, a tile of each wave.
  constexpr int exchange_offset() const { return stages * stage_bytes(); }
  // Two turns of page numbers a wave, one number a lane.
  constexpr int pages_offset() const { return exchange_offset() + kStage1Waves * 16 * 16 * 4; }
  constexpr int bytes() const { return pages_offset() + kStage1Waves * 2 * kWaveLanes * 4; }
};

inline constexpr int kMaxMergeWaves = 8;
inline constexpr int kMaxMergeClasses = 16;

// A class without a split would only take LDS.
constexpr int amd_merge_classes(int splits) {
  return splits < kMaxMergeClasses ? splits : kMaxMergeClasses;
}
// Of each class a slice's columns and the sum of its weights.
constexpr int amd_merge_bytes(int splits, int stage2_tiles) {
  return amd_merge_classes(splits) * (kValueDim / stage2_tiles + 1) * 4;
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// Shared memory and threads of a wide stage-1 workgroup (sm_90a), as numbers for host and device. A
// workgroup has 64 query rows, the m64 of wgmma; a row group of 128 rows is a cluster of two.
//
// Everything in shared memory is panels: 64 rows x 64 columns of bf16, rows of 128 bytes whose
// 16-byte pieces are swapped as by the copy engine's 128-byte swizzle. A block of 64 cached rows is
// nine panels, eight of which are also values. The copy ring holds two blocks: the values of each
// in pairs of panels and the ninth alone, so that products begin with the first panels of a block
// and the next copy with the first dead ones.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

inline constexpr int kWideRows = 64;   // query rows of a workgroup
inline constexpr int kWideTileN = 64;  // cached rows of a block
inline constexpr int kWideStages = 2;  // blocks of the copy ring
inline constexpr int kPanelColumns = 64;
inline constexpr int kPanelRowBytes = 2 * kPanelColumns;
inline constexpr int kPanelBytes = kWideTileN * kPanelRowBytes;
inline constexpr int kBlockPanels = kHeadDim / kPanelColumns;
inline constexpr int kValuePanels = kValueDim / kPanelColumns;
inline constexpr int kPanelAlignment = 1024;  // eight rows: where the swizzle begins again
static_assert(kBlockPanels * kPanelColumns == kHeadDim);
static_assert(kValuePanels * kPanelColumns == kValueDim);

// The last panels of the queries live in registers of both consumers: less to read from shared
// memory for the scores, and room there for the weights.
inline constexpr int kRegisterPanels = 2;
inline constexpr int kQueryPanels = kBlockPanels - kRegisterPanels;

// Two warpgroups consume, one copies.
inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupWarps = kWarpgroupThreads / 32;
inline constexpr int kWideSides = 2;  // consumers: each has half of the values' columns
inline constexpr int kWideConsumerWarps = kWideSides * kWarpgroupWarps;  // the knob stage1_warps
static_assert(kWideSides == kWideStages);  // the blocks of a side are those of a stage
inline constexpr int kWideThreads = (kWideSides + 1) * kWarpgroupThreads;

// Units of the ring, which fill and empty together: pairs of value panels, and the panels that are
// keys alone.
inline constexpr int kPairPanels = 2;
inline constexpr int kBlockPairs = kValuePanels / kPairPanels;
inline constexpr int kSidePairs = kBlockPairs / kWideSides;
inline constexpr int kPairUnits = kWideStages * kBlockPairs;
inline constexpr int kRingUnits = kPairUnits + kWideStages;  // pairs first
inline constexpr int kPanelSlots = kWideStages * kBlockPanels;

constexpr bool is_wide(int32_t group_rows) {
  return group_rows >= kWideRows;
}
// Workgroups that share the walk of a row group: of 128 rows, two have 64 each.
constexpr int32_t group_workgroups(int32_t group_rows) {
  return is_wide(group_rows) ? group_rows / kWideRows : 1;
}

struct WideLayout {
  // Offsets in bytes; the ring comes first.
  static constexpr int queries() { return kPanelSlots * kPanelBytes; }
  // The weights of a block of each side, a panel.
  static constexpr int weights() { return queries() + kQueryPanels * kPanelBytes; }
  // Maxima and sums of each side, a float a query row.
  static constexpr int maxima() { return weights() + kWideSides * kPanelBytes; }
  static constexpr int sums() { return maxima() + kWideSides * kWideRows * 4; }
  // A full and an empty barrier a unit of the ring, four a side and one for the exchange.
  static constexpr int barriers() { return sums() + kWideSides * kWideRows * 4; }
  static constexpr int exchange_barriers() { return barriers() + 2 * kRingUnits * 8; }
  // Where the results go: what the consumers have no registers for while they walk.
  static constexpr int results() { return exchange_barriers() + (4 * kWideSides + 1) * 8; }
  static constexpr int bytes() { return results() + 32; }
};

}  // namespace mla

// SPDX-License-Identifier: MIT
// Shared memory and threads of a wide stage-1 workgroup (sm_90a), as numbers for host and device. A
// workgroup has 64 query rows, the m64 of wgmma; a row group of 128 rows is a cluster of two.
//
// Everything in shared memory is panels: 64 rows x 64 columns of bf16, rows of 128 bytes whose
// 16-byte pieces are swapped as by the copy engine's 128-byte swizzle. A block of 64 cached rows is
// nine panels, eight of which are also values. The copy ring hands these out in pairs and the ninth
// alone, so that products begin with the first pair of a block and the next copy with the first
// dead one.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

inline constexpr int kWideRows = 64;   // query rows of a workgroup
inline constexpr int kWideTileN = 64;  // cached rows of a block
inline constexpr int kWideStages = 2;  // the whole blocks of the copy ring
inline constexpr int kPanelColumns = 64;
inline constexpr int kPanelRowBytes = 2 * kPanelColumns;
inline constexpr int kPanelBytes = kWideTileN * kPanelRowBytes;
inline constexpr int kBlockPanels = kHeadDim / kPanelColumns;
inline constexpr int kValuePanels = kValueDim / kPanelColumns;
inline constexpr int kPanelAlignment = 1024;  // eight rows: where the swizzle begins again
static_assert(kBlockPanels * kPanelColumns == kHeadDim);
static_assert(kValuePanels * kPanelColumns == kValueDim);

// The last panels of the queries live in registers of the score warpgroup: less to read from shared
// memory for the scores, and more of it for the ring.
inline constexpr int kRegisterPanels = 4;
inline constexpr int kQueryPanels = kBlockPanels - kRegisterPanels;

// One warpgroup makes the scores, two the halves of the output, one copies.
inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupWarps = kWarpgroupThreads / 32;
inline constexpr int kWideConsumerWarps = 3 * kWarpgroupWarps;  // what the knob stage1_warps counts
inline constexpr int kWideThreads = 4 * kWarpgroupThreads;

// The ring has places for pairs of value panels, which one product reads and which are free
// together, and others for the panels that are keys alone.
inline constexpr int kPairPanels = 2;
inline constexpr int kBlockPairs = kValuePanels / kPairPanels;
inline constexpr int kPairSlots = 10;
inline constexpr int kRopeSlots = 2;
inline constexpr int kRingUnits = kPairSlots + kRopeSlots;  // pairs first
inline constexpr int kPanelSlots = kPairSlots * kPairPanels + kRopeSlots;

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
  // The weights of a block, a panel.
  static constexpr int weights() { return queries() + kQueryPanels * kPanelBytes; }
  // Two buffers of a factor a query row.
  static constexpr int factors() { return weights() + kPanelBytes; }
  // A full and an empty barrier a pair or key panel, four for weights and factors.
  static constexpr int barriers() { return factors() + 2 * kWideRows * 4; }
  static constexpr int weight_barriers() { return barriers() + 2 * kRingUnits * 8; }
  // Where the results go: what the value warpgroups have no registers for while they walk.
  static constexpr int results() { return weight_barriers() + 4 * 8; }
  static constexpr int bytes() { return results() + 32; }
};

}  // namespace mla

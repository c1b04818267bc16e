// SPDX-License-Identifier: MIT
// Shared memory of a bh16 stage-1 workgroup on NVIDIA, as numbers for host and device: a ring of KV
// stages, the exchange of partial scores, barriers, and the ring of prefetched row numbers.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

inline constexpr int kWarpsPerTeam = 4;  // a team walks blocks by itself; a workgroup has one or two
inline constexpr int kTeamThreads = 32 * kWarpsPerTeam;
inline constexpr int kRowBytes = 2 * kHeadDim;    // bf16
inline constexpr int kRowPitch = kRowBytes + 16;  // 8 rows of an 8x8 matrix fall into 8 banks
// Blocks whose row numbers are fetched before their rows: one block of 16 rows takes 0.5 us of an
// SM's share of memory, and a cold row number 1 us.
inline constexpr int kIndexAhead = 4;
inline constexpr int kIndexSlots = 8;
inline constexpr int kMaxStages = 12;

struct Bh16Layout {
  int tile_n;
  int teams;
  int stages;

  constexpr int stage_bytes() const { return tile_n * kRowPitch; }
  // fp32 scores of 16 heads x tile_n rows, one partial sum a warp, two buffers a team.
  constexpr int exchange_bytes() const { return teams * 2 * kWarpsPerTeam * 16 * tile_n * 4; }
  constexpr int exchange_offset() const { return stages * stage_bytes(); }
  constexpr int index_offset() const { return exchange_offset() + exchange_bytes(); }
  constexpr int barrier_offset() const { return index_offset() + kIndexSlots * tile_n * 4; }
  constexpr int bytes() const { return barrier_offset() + 2 * kMaxStages * 8; }
  constexpr int threads() const { return teams * kTeamThreads + 32; }
};

}  // namespace mla

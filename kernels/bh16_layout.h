// SPDX-License-Identifier: MIT
// Shared memory of a bh16 stage-1 workgroup on NVIDIA, as numbers for host and device. A workgroup
// is one to three teams of consumers, each for 16 query rows. Several teams of a row group of 16
// take the blocks in turn, each with a ring of KV stages of its own; those of a row group of 32
// read every stage of one ring, each for its half of the rows.
#pragma once

#include <cstdint>

#include "kernels/config.h"
#include "kernels/problem.h"

namespace mla {

inline constexpr int kWarpsPerTeam = 4;  // consumers; what the knob stage1_warps counts
inline constexpr int kTeamThreads = 32 * kWarpsPerTeam;
inline constexpr int kTeamRows = 16;
inline constexpr int kMaxTeams = 3;
// A warp issues bulk copies of scattered rows one by one, about 80 cycles each, and memory delivers
// a row to an SM every 67 (H200): one producer warp cannot keep up.
inline constexpr int kProducersPerTeam = 2;
// Three teams have one warpgroup of producers in common, as registers move between producers and
// consumers by warpgroups. It fills all rings, each warp a quarter of every block.
inline constexpr int kCommonProducers = 4;
// Steps of 16 columns of a warp's queries that three teams keep in shared memory, once for all of
// them: they have registers for six of nine.
inline constexpr int kSharedQuerySteps = 3;
inline constexpr int kRowBytes = 2 * kHeadDim;  // bf16
// Rows lie close together, as copies into shared memory want: with 16 bytes between rows most of
// them begin within a line of 128 bytes, and an H200 copies scattered rows 5 % slower from memory
// and half as fast from its L2. Against bank conflicts the 16-byte pieces of each line are swapped
// as by the copy engine's 128-byte swizzle: piece i of line n of a stage is at place i ^ n % 8. A
// row has 9 lines, so the same columns of 8 rows in turn are at 8 different places.
inline constexpr int kLineBytes = 128;
inline constexpr int kRowLines = kRowBytes / kLineBytes;
inline constexpr int kStageAlignment = 8 * kLineBytes;
static_assert(kRowLines * kLineBytes == kRowBytes && kRowLines % 8 == 1);
// An fp8 row has four and a half lines, which no swizzle fits. So 16 bytes lie between rows: an odd
// number of pieces from row to row puts the same columns of 8 rows at 8 different places.
inline constexpr int kFp8RowBytes = kHeadDim;
inline constexpr int kFp8RowPitch = kFp8RowBytes + 16;
static_assert(kFp8RowPitch / 16 % 2 == 1);
// Rows whose numbers a ring's producers fetch before the rows themselves. A number waits in the
// same queue of the memory system as the rows in flight, so it has to be further ahead than the
// ring is deep.
inline constexpr int kIndexAheadRows = 256;
inline constexpr int kMaxStages = 12;

struct Bh16Layout {
  int tile_n;
  int teams;
  int stages;  // of each ring
  KvDtype kv_dtype = KvDtype::kBf16;
  int group_rows = kTeamRows;

  constexpr int teams_per_ring() const { return group_rows / kTeamRows; }
  constexpr int rings() const { return teams / teams_per_ring(); }
  constexpr bool common_producers() const { return teams == kMaxTeams; }
  constexpr int producers_per_ring() const {
    return common_producers() ? kCommonProducers : teams_per_ring() * kProducersPerTeam;
  }
  constexpr int stage_bytes() const {
    return tile_n * (kv_dtype == KvDtype::kFp8 ? kFp8RowPitch : kRowBytes);
  }
  // Parts of the memory of a ring and its teams.
  constexpr int exchange_offset() const { return stages * stage_bytes(); }
  // Of each team: fp32 scores of 16 query rows x tile_n cached ones, a partial sum a warp, two
  // buffers.
  constexpr int exchange_bytes() const { return 2 * kWarpsPerTeam * kTeamRows * tile_n * 4; }
  constexpr int index_offset() const {
    return exchange_offset() + teams_per_ring() * exchange_bytes();
  }
  constexpr int barrier_offset() const {
    return index_offset() + (common_producers() ? 0 : index_bytes());
  }
  constexpr int ring_bytes() const {
    const int used = barrier_offset() + 2 * kMaxStages * 8;
    return (used + kStageAlignment - 1) / kStageAlignment * kStageAlignment;
  }
  // Row numbers of the producers of a ring, or of all rings: twice those that are ahead.
  constexpr int index_ahead_rows() const {
    return common_producers() ? 2 * kIndexAheadRows : kIndexAheadRows;
  }
  constexpr int index_bytes() const { return 2 * index_ahead_rows() * 4; }
  // What three teams have in common, behind their rings.
  constexpr int common_index_offset() const { return rings() * ring_bytes(); }
  constexpr int queries_offset() const { return common_index_offset() + index_bytes(); }
  // Of the workgroup.
  constexpr int bytes() const {
    return common_producers() ? queries_offset() + kSharedQuerySteps * kTeamThreads * 16
                              : rings() * ring_bytes();
  }
  constexpr int threads() const {
    const int producers = common_producers() ? kCommonProducers : teams * kProducersPerTeam;
    return teams * kTeamThreads + 32 * producers;
  }
};

constexpr Bh16Layout bh16_layout(const KernelConfig& config, KvDtype kv_dtype) {
  const int teams = config.stage1_warps / kWarpsPerTeam;
  return {config.tile_n, teams, config.stages, kv_dtype, config.group_rows};
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// Splits of a default whose device has costs (space.h): those of the shortest time by a model of
// waves. A formula that fills one wave at most leaves half of a device idle at the first batch that
// does not fit twice.
//
//   time_us  begin + waves x walk + (waves - 1) x wave + merge
//   walk     rows of the longest split x max(row_us, busy share x memory_row_us /
//            sharers): a workgroup is bound by its own loop, all together by memory, of which those
//            with the same rows read one copy
//            Rows in use above far_bytes come slower.
//   merge    of two splits pair_us, of more merge_us + splits for each warp of stage 2 x split_us,
//            + late_us as far as stage 2 finds no room on idle compute units
#pragma once

#include <array>
#include <cstdint>

#include "kernels/space.h"

namespace mla::policy {

// At most so many splits, and so many waves of workgroups, for the sake of a wave's end: what they
// gain shrinks with their number and the workspace grows with it.
inline constexpr int64_t kMostWaveSplits = 16;
inline constexpr int64_t kMostWaves = 8;

struct SplitShape {
  int64_t workgroups = 1;  // of stage 1 where no request is split
  int64_t units = 1;       // workgroups that run at once
  int64_t rows = 0;        // cached rows of a request
  int64_t tile_n = 1;
  int64_t sharers = 1;   // workgroups that walk the same rows
  double row_share = 1;  // bytes of a row over those of a bf16 one
  double bytes = 0;      // of the rows in use
};

struct MergeShape {
  int64_t workgroups = 0;  // of stage 2
  int64_t warps = 1;       // of each
};

// Which splits are worth a look: one, two, those that fill 1/2, 3/4, 1, 2 .. kMostWaves waves, each
// lowered to the fewest with as many blocks in the longest split, and to two blocks in most: there
// are two teams.
struct SplitCandidates {
  std::array<int64_t, 4 + kMostWaves> splits;
  int count = 0;
};
SplitCandidates split_candidates(const SplitShape& shape, int64_t most) noexcept;

// The most splits that are worth a look, whatever the length.
int64_t most_default_splits(const SplitShape& shape) noexcept;

double default_time_us(const DefaultCosts& costs,
                       const DefaultCosts::Kernel& kernel,
                       const SplitShape& shape,
                       int64_t splits,
                       const MergeShape& merge) noexcept;

}  // namespace mla::policy

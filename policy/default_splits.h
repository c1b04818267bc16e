// SPDX-License-Identifier: MIT
// Splits of a default whose device has costs (space.h): those of the shortest time by a model of
// waves. A formula that fills one wave at most leaves half of a device idle at
// the first batch that does not fit twice.
#pragma once

#include <cstdint>

#include "kernels/space.h"

namespace mla::policy {

// At most so many splits, and so many waves of workgroups, for the sake of a wave's end: what they
// gain shrinks with their number and the workspace grows with it.
inline constexpr int64_t kMostWaveSplits = 16;
inline constexpr int64_t kMostWaves = 8;

struct SplitShape {
  int64_t workgroups = 1;  // of stage 1 where no request is split
  int64_t units = 1;       // compute units
  int64_t rows = 0;        // cached rows of a request
  int64_t tile_n = 1;
};

// The most splits that default_splits() answers in place of `filling`, whatever the length.
int64_t most_default_splits(int64_t workgroups, int64_t units, int64_t filling) noexcept;

// `filling`: the splits of one wave. So few that most have two blocks: there are two teams.
int64_t default_splits(const DefaultCosts::Group& costs,
                       const SplitShape& shape,
                       int64_t filling) noexcept;

}  // namespace mla::policy

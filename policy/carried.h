// SPDX-License-Identifier: MIT
// A winner on its way to other shapes. One that has the default's split count, of the same row
// groups, is carried as a set of levers: elsewhere it takes the split count that the default has
// there, and the default's stage 2 where that was its own too. Any other is carried as it is; so is
// one whose order or schedule is legal for some split counts only.
#pragma once

#include "kernels/config.h"

namespace mla::policy {

// Knobs that follow the default are 0.
inline KernelConfig carried(KernelConfig winner, const KernelConfig& default_config) noexcept {
  const bool any_splits =
      winner.order == Order::kBatchMajor && winner.schedule == Schedule::kUniform;
  const bool same_splits =
      winner.splits == default_config.splits && winner.group_rows == default_config.group_rows;
  if (!any_splits || !same_splits) return winner;
  winner.splits = 0;
  if (winner.stage2_tiles == default_config.stage2_tiles &&
      winner.stage2_warps == default_config.stage2_warps) {
    winner.stage2_tiles = winner.stage2_warps = 0;
  }
  return winner;
}

// What is launched where the default is `default_config`.
inline KernelConfig at_shape(KernelConfig carried, const KernelConfig& default_config) noexcept {
  if (carried.splits != 0) return carried;
  carried.splits = default_config.splits;
  if (carried.stage2_tiles == 0) {
    carried.stage2_tiles = default_config.stage2_tiles;
    carried.stage2_warps = default_config.stage2_warps;
  }
  return carried;
}

}  // namespace mla::policy

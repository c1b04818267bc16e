// SPDX-License-Identifier: MIT
// A winner on its way to other shapes. One that has the default's split count, of the same row
// groups, is carried as a set of levers: elsewhere it takes the split count that the default has
// there, and the default's stage 2 where that was its own too. One with a split count of its own is
// carried in two forms: as it is, and as a number of workgroups, so that at another batch its waves
// stay what they were. One whose order or schedule is legal for some split counts only is carried
// as it is. Which form holds is measured (selection.h).
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/config.h"
#include "kernels/space.h"
#include "policy/wave_edge.h"

namespace mla::policy {

// In a carried configuration, splits above this are a number of workgroups. Above every legal split
// count, and with as many workgroups again still within the bits of pack_config().
inline constexpr int32_t kWorkgroupsMark = 2048;

// The forms of `winner`, which was tuned at `from`; knobs that follow the default are 0.
inline std::vector<KernelConfig> carried(KernelConfig winner,
                                         const KernelConfig& default_config,
                                         const Problem& from) {
  if (winner.order != Order::kBatchMajor || winner.schedule != Schedule::kUniform) return {winner};
  if (winner.splits == default_config.splits && winner.group_rows == default_config.group_rows) {
    winner.splits = 0;
    if (winner.stage2_tiles == default_config.stage2_tiles &&
        winner.stage2_warps == default_config.stage2_warps) {
      winner.stage2_tiles = winner.stage2_warps = 0;
    }
    return {winner};
  }
  std::vector<KernelConfig> forms = {winner};
  const int64_t workgroups = winner.splits * unsplit_workgroups(from, winner);
  if (workgroups < kWorkgroupsMark) {
    winner.splits = kWorkgroupsMark + static_cast<int32_t>(workgroups);
    forms.push_back(winner);
  }
  return forms;
}

// What is launched for `problem`, whose default is `default_config`.
inline KernelConfig at_shape(KernelConfig carried,
                             const KernelConfig& default_config,
                             const Problem& problem) noexcept {
  if (carried.splits > kWorkgroupsMark) {
    const int64_t unsplit = std::max<int64_t>(1, unsplit_workgroups(problem, carried));
    carried.splits =
        static_cast<int32_t>(std::max<int64_t>(1, (carried.splits - kWorkgroupsMark) / unsplit));
    return carried;
  }
  if (carried.splits != 0) return carried;
  carried.splits = default_config.splits;
  if (carried.stage2_tiles == 0) {
    carried.stage2_tiles = default_config.stage2_tiles;
    carried.stage2_warps = default_config.stage2_warps;
  }
  return carried;
}

}  // namespace mla::policy

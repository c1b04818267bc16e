// SPDX-License-Identifier: MIT
// Where a configuration must not be used without a measurement: the workgroups of stage 1 just pass
// one or two full waves of the device, so that a last wave with few workgroups takes as long as a
// full one. Beyond two waves the loss is small; published pockets (341 us at 46 requests against
// 208 at 44) are all below.
#pragma once

#include "kernels/device_info.h"
#include "kernels/partition.h"
#include "kernels/problem.h"
#include "kernels/space.h"

namespace mla::policy {

// Workgroups of stage 1 where no request is split.
inline int64_t unsplit_workgroups(const Problem& problem, const KernelConfig& config) noexcept {
  return problem.batch * request_workgroups(problem, config);
}

// k x CUs < workgroups <= 1.1 x k x CUs for k = 1 or 2.
constexpr bool past_wave_edge(int64_t workgroups, int64_t compute_units) noexcept {
  for (const int64_t full : {compute_units, 2 * compute_units}) {
    if (workgroups > full && 10 * workgroups <= 11 * full) return true;
  }
  return false;
}

inline bool past_wave_edge(const DeviceInfo& device,
                           const Problem& problem,
                           const KernelConfig& config) noexcept {
  if (config.schedule == Schedule::kPersistent) return false;  // all workgroups run at once
  const int64_t splits = effective_splits(problem.seq_len, config.splits, config.tile_n);
  return past_wave_edge(unsplit_workgroups(problem, config) * splits, device.compute_units);
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
#include "policy/default_splits.h"

#include <algorithm>
#include <cmath>

#include "kernels/partition.h"
#include "kernels/problem.h"

namespace mla::policy {
namespace {

double merge_us(const DefaultCosts& costs,
                const DefaultCosts::Kernel& kernel,
                const SplitShape& shape,
                int64_t splits,
                const MergeShape& merge) {
  if (splits <= 1) return 0;
  if (splits == 2) return kernel.pair_us;
  const auto warps = static_cast<double>(merge.warps);
  const auto idle =
      static_cast<double>(std::max<int64_t>(0, shape.units - shape.workgroups * splits));
  const double beside =
      idle * costs.beside_warps / kernel.resident / warps / static_cast<double>(merge.workgroups);
  return costs.merge_us + costs.split_us * static_cast<double>(splits) / warps +
         costs.late_us * std::max(0.0, 1 - beside);
}

}  // namespace

int64_t most_default_splits(const SplitShape& shape) noexcept {
  const int64_t workgroups = std::max<int64_t>(1, shape.workgroups);
  const int64_t waves = std::min(kMostWaveSplits, kMostWaves * shape.units / workgroups);
  return std::max<int64_t>({1, shape.units / workgroups, waves});
}

SplitCandidates split_candidates(const SplitShape& shape, int64_t most) noexcept {
  SplitCandidates candidates;
  const int64_t blocks = std::max<int64_t>(1, block_count(shape.rows, shape.tile_n));
  most = std::min({most, most_default_splits(shape), (blocks + 1) / 2});
  const auto add = [&](int64_t splits) {
    splits = std::clamp<int64_t>(splits, 1, most);
    splits = ceil_div(blocks, ceil_div(blocks, splits));
    const auto end = candidates.splits.begin() + candidates.count;
    if (std::find(candidates.splits.begin(), end, splits) != end) return;
    candidates.splits[static_cast<size_t>(candidates.count++)] = splits;
  };
  const int64_t filling = shape.units / std::max<int64_t>(1, shape.workgroups);
  add(1);
  add(2);
  add(filling / 2);
  add(filling * 3 / 4);
  for (int64_t waves = 1; waves <= kMostWaves; ++waves) {
    const int64_t splits = waves * shape.units / std::max<int64_t>(1, shape.workgroups);
    if (waves > 1 && (splits <= 1 || splits > most)) continue;
    add(splits);
  }
  return candidates;
}

double default_time_us(const DefaultCosts& costs,
                       const DefaultCosts::Kernel& kernel,
                       const SplitShape& shape,
                       int64_t splits,
                       const MergeShape& merge) noexcept {
  const int64_t walked = trips(shape.rows, splits, shape.tile_n) * shape.tile_n;
  const auto walk = static_cast<double>(std::min(walked, shape.rows));
  const double doublings =
      costs.far_bytes > 0 ? std::max(0.0, std::log2(shape.bytes / costs.far_bytes)) : 0;
  const double row_us = kernel.row_us * (1 + doublings * costs.far_row_growth);
  const double memory_us = kernel.memory_row_us * (1 + doublings * costs.far_memory_growth) *
                           shape.row_share / static_cast<double>(shape.sharers);
  const auto wave_us = [&](int64_t workgroups) {
    if (workgroups == 0) return 0.0;
    const double busy = static_cast<double>(workgroups) / static_cast<double>(shape.units);
    return walk * std::max(row_us, memory_us * busy);
  };
  const int64_t workgroups = shape.workgroups * splits;
  const int64_t full = workgroups / shape.units, rest = workgroups % shape.units;
  const int64_t waves = full + (rest > 0 ? 1 : 0);
  return kernel.begin_us + static_cast<double>(full) * wave_us(shape.units) + wave_us(rest) +
         static_cast<double>(waves - 1) * kernel.wave_us +
         merge_us(costs, kernel, shape, splits, merge);
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
#include "policy/default_splits.h"

#include <algorithm>

#include "kernels/partition.h"

namespace mla::policy {
namespace {

// What a model that knows neither caches nor clocks has to promise before the splits are others
// than those of one wave.
constexpr double kLeastGain = 0.1;

// In cached rows that a workgroup walks meanwhile. In a last wave that is not full each workgroup
// walks faster, down to where the rest of the device would not make it faster any more.
double time_rows(const DefaultCosts::Group& costs, const SplitShape& shape, int64_t splits) {
  const double walk = static_cast<double>(shape.rows) / static_cast<double>(splits);
  const double ends = costs.begin_rows + (splits > 1 ? costs.merge_rows : 0);
  const int64_t workgroups = shape.workgroups * splits;
  const auto full_waves = static_cast<double>(workgroups / shape.units);
  const int64_t rest = workgroups % shape.units;
  if (rest == 0) return full_waves * (walk + ends);
  const double busy = static_cast<double>(rest) / static_cast<double>(shape.units);
  return full_waves * (walk + ends) + ends + walk * std::max(busy, costs.enough);
}

}  // namespace

int64_t most_default_splits(int64_t workgroups, int64_t units, int64_t filling) noexcept {
  const int64_t most =
      std::min(kMostWaveSplits, kMostWaves * units / std::max<int64_t>(1, workgroups));
  return std::max(filling, most);
}

int64_t default_splits(const DefaultCosts::Group& costs,
                       const SplitShape& shape,
                       int64_t filling) noexcept {
  const int64_t blocks = block_count(shape.rows, shape.tile_n);
  const int64_t longest = std::max<int64_t>(1, (blocks + 1) / 2);
  const int64_t first = std::min(filling, longest);
  const int64_t last = std::min(most_default_splits(shape.workgroups, shape.units, 1), longest);
  int64_t best = first;
  double best_time = (1 - kLeastGain) * time_rows(costs, shape, first);
  for (int64_t splits = 1; splits <= last; ++splits) {
    const double time = time_rows(costs, shape, splits);
    if (time >= best_time) continue;
    best = splits;
    best_time = time;
  }
  return best;
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
#include "policy/default_policy.h"

#include <algorithm>

#include "policy/wave_edge.h"

namespace mla::policy {

int32_t lowered_to(const std::vector<int32_t>& values, int64_t value) {
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  return above == values.begin() ? values.front() : *(above - 1);
}

namespace {

KernelConfig with_stage2_tiles(const Space& space, int32_t tiles, KernelConfig config) {
  const KnobRange& warps = space.range(Knob::kStage2Warps);
  config.stage2_tiles = lowered_to(space.range(Knob::kStage2Tiles).legal, tiles);
  const int32_t share =
      warps.over_tiles ? std::max(1, warps.neutral / config.stage2_tiles) : warps.neutral;
  config.stage2_warps = lowered_to(warps.legal, share);
  return config;
}

void set_where_legal(
    const Space& space, const Problem& problem, Knob knob, int32_t value, KernelConfig* config) {
  KernelConfig changed = *config;
  set(&changed, knob, value);
  if (!space.violation(problem, changed)) *config = changed;
}

}  // namespace

DefaultPolicy::DefaultPolicy(const Space& space)
    : compute_units_(std::max(1, space.device().compute_units)) {
  for (const KvDtype dtype : {KvDtype::kBf16, KvDtype::kFp8}) {
    Problem problem;
    problem.kv_dtype = dtype;
    std::vector<KernelConfig>& neutral = neutral_[static_cast<size_t>(dtype)];
    neutral.push_back(space.neutral(dtype));
    for (const KernelConfig& config : space.wide_neutral()) {
      if (space.allows(problem, config)) neutral.push_back(config);
    }
    for (KernelConfig& config : neutral) config.order = Order::kBatchMajor;
  }
  const std::vector<int32_t>& splits = space.range(Knob::kSplits).legal;
  const int64_t most = std::min<int64_t>(compute_units_, splits.back());
  for (int32_t n = 0; n <= most; ++n) legal_splits_.push_back(lowered_to(splits, n));
  for (size_t k = 0; k < stage2_.size(); ++k) {
    const KernelConfig tiled = with_stage2_tiles(space, 1 << k, neutral_[0].front());
    stage2_[k] = {tiled.stage2_tiles, tiled.stage2_warps};
  }
}

KernelConfig DefaultPolicy::operator()(const Problem& problem) const noexcept {
  const int64_t tokens = int64_t{problem.batch} * problem.q_len;
  const std::vector<KernelConfig>& neutral = neutral_[static_cast<size_t>(problem.kv_dtype)];
  size_t width = 0;
  while (width + 1 < neutral.size() && neutral[width].group_rows < problem.q_len * problem.nhead) {
    ++width;
  }
  KernelConfig config = neutral[width];
  const int64_t most = static_cast<int64_t>(legal_splits_.size()) - 1;
  const int64_t splits =
      std::clamp<int64_t>(compute_units_ / unsplit_workgroups(problem, config), 1, most);
  size_t k = 0;
  while (k + 1 < stage2_.size() && (tokens * problem.nhead << k) < compute_units_) ++k;

  config.splits = legal_splits_[static_cast<size_t>(splits)];
  if (k > 0) {  // untiled, the neutral values hold: wide row groups leave stage 2 many rows
    config.stage2_tiles = stage2_[k].tiles;
    config.stage2_warps = stage2_[k].warps;
  }
  return config;
}

KernelConfig DefaultPolicy::finest_stage2(KernelConfig config) const noexcept {
  config.stage2_tiles = stage2_.back().tiles;
  config.stage2_warps = stage2_.back().warps;
  return config;
}

KernelConfig drained_baseline(const Space& space, const Problem& problem) {
  KernelConfig config = with_stage2_tiles(space, 1, DefaultPolicy(space)(problem));
  set_where_legal(space, problem, Knob::kWait, static_cast<int32_t>(Wait::kDrain), &config);
  return config;
}

KernelConfig all_levers(const Space& space, const Problem& problem) {
  KernelConfig config = DefaultPolicy(space)(problem);
  set_where_legal(space, problem, Knob::kWait, static_cast<int32_t>(Wait::kPartial), &config);
  set_where_legal(space, problem, Knob::kOrder, static_cast<int32_t>(Order::kSplitMajor), &config);
  return config;
}

}  // namespace mla::policy

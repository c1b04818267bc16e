// SPDX-License-Identifier: MIT
#include "policy/default_policy.h"

#include <algorithm>

#include "policy/default_splits.h"
#include "policy/wave_edge.h"

namespace mla::policy {

int32_t lowered_to(const std::vector<int32_t>& values, int64_t value) {
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  return above == values.begin() ? values.front() : *(above - 1);
}

namespace {

// What an unknown length counts as for the splits: about the middle of 1,024 to 131,072, in
// octaves.
constexpr int64_t kUnknownRows = 16384;

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
    : compute_units_(std::max(1, space.device().compute_units)),
      legal_stage2_warps_(space.range(Knob::kStage2Warps).legal),
      costs_(space.costs()) {
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
  const int64_t most = std::min<int64_t>(std::max(compute_units_, kMostWaveSplits), splits.back());
  for (int32_t n = 0; n <= most; ++n) legal_splits_.push_back(lowered_to(splits, n));
  for (size_t k = 0; k < stage2_.size(); ++k) {
    const KernelConfig tiled = with_stage2_tiles(space, 1 << k, neutral_[0].front());
    stage2_[k] = {tiled.stage2_tiles, tiled.stage2_warps};
  }
}

const KernelConfig& DefaultPolicy::neutral(const Problem& problem) const noexcept {
  const std::vector<KernelConfig>& neutral = neutral_[static_cast<size_t>(problem.kv_dtype)];
  const int64_t query_rows = int64_t{problem.q_len} * problem.nhead;
  size_t width = 0;
  while (width + 1 < neutral.size() && neutral[width].group_rows < query_rows) ++width;
  const auto has_work = [&](int64_t work) {
    return problem.seq_len == 0 || problem.batch * query_rows * problem.seq_len >= work;
  };
  if (problem.kv_dtype == KvDtype::kFp8 && costs_.fp8_work > 0 && has_work(costs_.fp8_work)) {
    return costs_.long_fp8;
  }
  const bool fits_twice = 2 * unsplit_workgroups(problem, neutral.front()) <= compute_units_;
  return has_work(costs_.wide_work) || !fits_twice ? neutral[width] : neutral.front();
}

int64_t DefaultPolicy::filling_splits(const Problem& problem,
                                      const KernelConfig& config) const noexcept {
  const int64_t most = static_cast<int64_t>(legal_splits_.size()) - 1;
  return std::clamp<int64_t>(compute_units_ / unsplit_workgroups(problem, config), 1, most);
}

const DefaultCosts::Group* DefaultPolicy::group_costs(int32_t group_rows) const noexcept {
  for (const DefaultCosts::Group& group : costs_.groups) {
    if (group.group_rows == group_rows) return &group;
  }
  return nullptr;
}

void DefaultPolicy::set_stage2(const Problem& problem, KernelConfig* config) const noexcept {
  const int64_t rows = int64_t{problem.batch} * problem.q_len * problem.nhead;
  size_t k = 0;
  const double enough = costs_.stage2_share * static_cast<double>(compute_units_);
  while (k + 1 < stage2_.size() && static_cast<double>(rows << k) < enough) ++k;
  if (costs_.stage2_warps == 0) {
    if (k == 0) return;
    config->stage2_tiles = stage2_[k].tiles;
    config->stage2_warps = stage2_[k].warps;
  } else if (config->splits > 1) {
    config->stage2_tiles = stage2_[k].tiles;
    const int64_t warps = costs_.stage2_warps * compute_units_ / (rows * config->stage2_tiles);
    const auto a_split = std::lower_bound(
        legal_stage2_warps_.begin(), legal_stage2_warps_.end() - 1, config->splits);
    config->stage2_warps = lowered_to(legal_stage2_warps_, std::min<int64_t>(*a_split, warps));
  }
}

KernelConfig DefaultPolicy::operator()(const Problem& problem) const noexcept {
  KernelConfig config = neutral(problem);
  int64_t splits = filling_splits(problem, config);
  const DefaultCosts::Group* costs = group_costs(config.group_rows);
  if (costs != nullptr) {
    const int64_t rows = problem.seq_len > 0 ? problem.seq_len : kUnknownRows;
    const SplitShape shape = {
        unsplit_workgroups(problem, config), compute_units_, rows, config.tile_n};
    splits = default_splits(*costs, shape, splits);
  }
  config.splits = legal_splits_[static_cast<size_t>(splits)];
  set_stage2(problem, &config);
  return config;
}

int32_t DefaultPolicy::most_splits(const Problem& problem) const noexcept {
  Problem unknown = problem;
  unknown.seq_len = 0;
  const KernelConfig& config = neutral(unknown);
  int64_t splits = filling_splits(problem, config);
  if (group_costs(config.group_rows) != nullptr) {
    splits = most_default_splits(unsplit_workgroups(problem, config), compute_units_, splits);
  }
  return static_cast<int32_t>(splits);
}

KernelConfig DefaultPolicy::finest_stage2(KernelConfig config) const noexcept {
  config.stage2_tiles = stage2_.back().tiles;
  config.stage2_warps = costs_.stage2_warps > 0 ? legal_stage2_warps_.back() : stage2_.back().warps;
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

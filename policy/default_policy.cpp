// SPDX-License-Identifier: MIT
#include "policy/default_policy.h"

#include <algorithm>
#include <bit>
#include <limits>

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

// Lengths to a 32nd of an octave, rounded up so that no split gets a block more: finer than a model
// of waves can tell, and a request keeps its kernel for many steps.
constexpr int kLengthBits = 6;

int64_t coarse_length(int64_t rows) {
  if (rows == 0) return 0;  // unknown
  const int bits = std::bit_width(static_cast<uint64_t>(rows - 1));
  const int dropped = std::max(0, bits - kLengthBits);
  return (((rows - 1) >> dropped) + 1) << dropped;
}

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

size_t DefaultPolicy::widest(const Problem& problem) const noexcept {
  const std::vector<KernelConfig>& neutral = neutral_[static_cast<size_t>(problem.kv_dtype)];
  const int64_t query_rows = int64_t{problem.q_len} * problem.nhead;
  size_t width = 0;
  while (width + 1 < neutral.size() && neutral[width].group_rows < query_rows) ++width;
  return width;
}

const KernelConfig& DefaultPolicy::neutral(const Problem& problem, size_t width) const noexcept {
  if (problem.kv_dtype == KvDtype::kFp8 && costs_.fp8_work > 0) {
    const int64_t steps = problem.batch * int64_t{problem.q_len} * problem.nhead;
    if (problem.seq_len == 0 || steps * problem.seq_len >= costs_.fp8_work) return costs_.long_fp8;
  }
  return neutral_[static_cast<size_t>(problem.kv_dtype)][width];
}

int64_t DefaultPolicy::filling_splits(const Problem& problem,
                                      const KernelConfig& config) const noexcept {
  const int64_t most = static_cast<int64_t>(legal_splits_.size()) - 1;
  return std::clamp<int64_t>(compute_units_ / unsplit_workgroups(problem, config), 1, most);
}

SplitShape DefaultPolicy::split_shape(const Problem& problem,
                                      const DefaultCosts::Kernel& kernel) const noexcept {
  const int64_t rows = problem.seq_len > 0 ? problem.seq_len : kUnknownRows;
  const auto bytes = static_cast<double>(row_bytes(problem.kv_dtype));
  return {unsplit_workgroups(problem, kernel.config),
          compute_units_ * kernel.resident,
          rows,
          kernel.config.tile_n,
          request_workgroups(problem, kernel.config),
          bytes / static_cast<double>(row_bytes(KvDtype::kBf16)),
          bytes * static_cast<double>(problem.batch) * static_cast<double>(rows)};
}

DefaultPolicy::Stage2 DefaultPolicy::stage2(int64_t rows, int64_t splits) const noexcept {
  size_t k = 0;
  const auto cut_again = [&] {
    const int64_t workgroups = rows << k;
    if (static_cast<double>(workgroups) < costs_.stage2_share * static_cast<double>(compute_units_))
      return true;
    return costs_.stage2_splits > 0 && workgroups < compute_units_ &&
           splits >= int64_t{costs_.stage2_splits} << 2 * k;
  };
  while (k + 1 < stage2_.size() && cut_again()) ++k;
  Stage2 shape = stage2_[k];
  if (costs_.stage2_warps == 0) return shape;
  const int64_t warps = costs_.stage2_warps * compute_units_ / (rows * shape.tiles);
  const auto a_split =
      std::lower_bound(legal_stage2_warps_.begin(), legal_stage2_warps_.end() - 1, splits);
  shape.warps = lowered_to(legal_stage2_warps_, std::min<int64_t>(*a_split, warps));
  return shape;
}

void DefaultPolicy::set_stage2(const Problem& problem, KernelConfig* config) const noexcept {
  if (costs_.stage2_warps > 0 && config->splits <= 1) return;
  const int64_t rows = int64_t{problem.batch} * problem.q_len * problem.nhead;
  const Stage2 shape = stage2(rows, config->splits);
  if (costs_.stage2_warps == 0 && shape.tiles == 1) return;
  config->stage2_tiles = shape.tiles;
  config->stage2_warps = shape.warps;
}

DefaultPolicy::Timed DefaultPolicy::of_kernel(const Problem& problem,
                                              const DefaultCosts::Kernel& kernel) const noexcept {
  Timed best = {kernel.config, std::numeric_limits<double>::infinity()};
  const int64_t rows = int64_t{problem.batch} * problem.q_len * problem.nhead;
  const SplitShape shape = split_shape(problem, kernel);
  const SplitCandidates candidates =
      split_candidates(shape, static_cast<int64_t>(legal_splits_.size()) - 1);
  for (int i = 0; i < candidates.count; ++i) {
    const int64_t splits = candidates.splits[static_cast<size_t>(i)];
    const Stage2 merge = stage2(rows, splits);
    const double time_us =
        default_time_us(costs_, kernel, shape, splits, {rows * merge.tiles, merge.warps});
    if (time_us >= best.time_us) continue;
    best.time_us = time_us;
    best.config.splits = legal_splits_[static_cast<size_t>(splits)];
  }
  set_stage2(problem, &best.config);
  return best;
}

DefaultPolicy::Timed DefaultPolicy::of_width(const Problem& problem, size_t width) const noexcept {
  const KernelConfig& base = neutral(problem, width);
  Timed best = {base, std::numeric_limits<double>::infinity()};
  for (DefaultCosts::Kernel kernel : costs_.kernels) {
    if (kernel.config.group_rows != base.group_rows) continue;
    // Of fp8 rows there is one kernel, with the costs of the first.
    if (problem.kv_dtype == KvDtype::kFp8) kernel.config = base;
    const Timed timed = of_kernel(problem, kernel);
    if (timed.time_us < best.time_us) best = timed;
    if (problem.kv_dtype == KvDtype::kFp8) break;
  }
  return best;
}

uint64_t DefaultPolicy::alike(const Problem& problem) noexcept {
  uint64_t key = static_cast<uint64_t>(problem.batch);
  key = key << 8 | static_cast<uint64_t>(problem.nhead);
  key = key << 4 | static_cast<uint64_t>(problem.q_len);
  key = key << 1 | static_cast<uint64_t>(problem.kv_dtype);
  return key << 25 | static_cast<uint64_t>(coarse_length(problem.seq_len));
}

KernelConfig DefaultPolicy::operator()(const Problem& problem) const noexcept {
  if (!has_model()) return without_costs(problem);
  const size_t last = widest(problem);
  Problem coarse = problem;
  coarse.seq_len = coarse_length(problem.seq_len);
  Timed best = of_width(coarse, last);
  for (size_t width = 0; width < last; ++width) {
    const Timed narrower = of_width(coarse, width);
    if (narrower.time_us < best.time_us) best = narrower;
  }
  return best.config;
}

KernelConfig DefaultPolicy::without_costs(const Problem& problem) const noexcept {
  KernelConfig config = neutral(problem, widest(problem));
  config.splits = legal_splits_[static_cast<size_t>(filling_splits(problem, config))];
  set_stage2(problem, &config);
  return config;
}

std::vector<KernelConfig> DefaultPolicy::of_each_width(const Problem& problem) const {
  if (!has_model()) return {without_costs(problem)};
  std::vector<KernelConfig> configs;
  for (size_t width = 0; width <= widest(problem); ++width)
    configs.push_back(of_width(problem, width).config);
  return configs;
}

int32_t DefaultPolicy::most_splits(const Problem& problem) const noexcept {
  const KernelConfig& widest_base = neutral(problem, widest(problem));
  int64_t most = has_model() ? 1 : filling_splits(problem, widest_base);
  for (const DefaultCosts::Kernel& kernel : costs_.kernels) {
    if (kernel.config.group_rows > widest_base.group_rows) continue;
    most = std::max(most, most_default_splits(split_shape(problem, kernel)));
  }
  return legal_splits_[std::min(static_cast<size_t>(most), legal_splits_.size() - 1)];
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

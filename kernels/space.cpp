// SPDX-License-Identifier: MIT
#include "kernels/space.h"

#include <algorithm>

#include "kernels/error.h"
#include "kernels/partition.h"
#include "kernels/row_group.h"
#include "kernels/wide_layout.h"

namespace mla {
namespace {

bool contains(const std::vector<int32_t>& values, int32_t value) {
  return std::binary_search(values.begin(), values.end(), value);
}

// "is not legal here; the nearest are 16 and 32"
std::string nearest_text(const std::vector<int32_t>& legal, Knob knob, int32_t value) {
  const auto above = std::upper_bound(legal.begin(), legal.end(), value);
  if (above == legal.begin()) return "the nearest is " + value_text(knob, *above);
  if (above == legal.end()) return "the nearest is " + value_text(knob, legal.back());
  return "the nearest are " + value_text(knob, *(above - 1)) + " and " + value_text(knob, *above);
}

}  // namespace

Space::Space(DeviceInfo device,
             std::vector<KnobRange> ranges,
             std::vector<Constraint> constraints,
             std::vector<KernelConfig> wide_neutral,
             std::optional<KernelConfig> fp8_neutral,
             DefaultCosts costs)
    : device_(std::move(device)),
      ranges_(std::move(ranges)),
      constraints_(std::move(constraints)),
      wide_neutral_(std::move(wide_neutral)),
      fp8_neutral_(fp8_neutral),
      costs_(std::move(costs)) {
  const auto fail = [](const std::string& text) { throw Error(ErrorCode::kInternal, text); };
  if (ranges_.size() != kKnobs.size()) fail("a space needs every knob once");
  std::vector<KernelConfig> shapes = wide_neutral_;
  if (fp8_neutral_) shapes.push_back(*fp8_neutral_);
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const KnobRange& range = ranges_[i];
    if (range.knob != kKnobs[i]) fail("a space lists its knobs in knob order");
    if (!contains(range.legal, range.neutral) || !contains(range.search, range.neutral)) {
      fail(std::string(name(range.knob)) + ": the neutral value is not among the values");
    }
    for (const KernelConfig& config : shapes) {
      if (!contains(range.search, get(config, range.knob))) {
        fail("a search does not visit the neutral " + to_text(config));
      }
    }
  }
}

KernelConfig Space::neutral(int32_t group_rows) const {
  for (const KernelConfig& config : wide_neutral_) {
    if (config.group_rows == group_rows) return config;
  }
  KernelConfig config;
  for (const KnobRange& range : ranges_) set(&config, range.knob, range.neutral);
  config.group_rows = group_rows;
  return config;
}

KernelConfig Space::neutral(KvDtype kv_dtype) const {
  return kv_dtype == KvDtype::kFp8 && fp8_neutral_ ? *fp8_neutral_ : neutral();
}

int32_t Space::filled_group_rows(const Problem& problem) const {
  const int32_t query_rows = problem.q_len * problem.nhead;
  const KnobRange& range = this->range(Knob::kGroupRows);
  if (query_rows <= range.neutral) return range.neutral;
  for (const KernelConfig& config : wide_neutral_) {
    if (query_rows <= config.group_rows && allows(problem, config)) return config.group_rows;
  }
  const auto widest =
      std::find_if(range.legal.rbegin(), range.legal.rend(), [&](int32_t group_rows) {
        return allows(problem, neutral(group_rows));
      });
  return widest == range.legal.rend() ? range.neutral : *widest;
}

std::optional<std::string> Space::violation(const Problem& problem,
                                            const KernelConfig& config) const {
  for (const KnobRange& range : ranges_) {
    const int32_t value = get(config, range.knob);
    if (contains(range.legal, value)) continue;
    if (range.legal.size() == 1 && range.legal[0] == 0) {
      return std::string(name(range.knob)) + ": " + device_.arch + " has no such knob";
    }
    return std::string(name(range.knob)) + "=" + value_text(range.knob, value) +
           " is not legal here; " + nearest_text(range.legal, range.knob, value);
  }
  for (const Constraint& constraint : constraints_) {
    if (!constraint.holds(problem, config)) return constraint.reason;
  }
  return std::nullopt;
}

bool Space::allows(const Problem& problem, const KernelConfig& config) const {
  for (const KnobRange& range : ranges_) {
    if (!contains(range.legal, get(config, range.knob))) return false;
  }
  return std::all_of(constraints_.begin(), constraints_.end(), [&](const Constraint& constraint) {
    return constraint.holds(problem, config);
  });
}

Space::Listing Space::list(const Problem& problem) const {
  const auto same_shares_with_fewer = [&](const KernelConfig& config) {
    const std::vector<int32_t>& splits = range(Knob::kSplits).search;
    const auto own = std::lower_bound(splits.begin(), splits.end(), config.splits);
    if (own == splits.begin() || *(own - 1) < 2) return false;
    KernelConfig fewer = config;
    fewer.splits = *(own - 1);
    return persistent_shares(device_, problem, fewer).count ==
           persistent_shares(device_, problem, config).count;
  };
  const int32_t filled_group_rows = this->filled_group_rows(problem);
  const auto neutral_stage2 = [this](const KernelConfig& config) {
    return config.stage2_tiles == range(Knob::kStage2Tiles).neutral &&
           config.stage2_warps == range(Knob::kStage2Warps).neutral;
  };
  Listing listing;
  std::vector<KernelConfig> partial = {neutral()};
  for (const KnobRange& range : ranges_) {
    std::vector<KernelConfig> extended;
    extended.reserve(partial.size() * range.search.size());
    for (const KernelConfig& base : partial) {
      for (const int32_t value : range.search) {
        extended.push_back(base);
        set(&extended.back(), range.knob, value);
      }
    }
    partial = std::move(extended);
  }
  for (const KernelConfig& config : partial) {
    const int64_t blocks = std::max<int64_t>(1, block_count(problem.seq_len, config.tile_n));
    if (config.splits > blocks) {
      ++listing.pruned["splits_above_blocks"];
      continue;
    }
    if (config.splits == 1 && !neutral_stage2(config)) {
      ++listing.pruned["stage2_unsplit"];
      continue;
    }
    if (config.group_rows > filled_group_rows) {
      ++listing.pruned["group_rows_unfilled"];
      continue;
    }
    const auto broken =
        std::find_if(constraints_.begin(), constraints_.end(), [&](const Constraint& c) {
          return !c.holds(problem, config);
        });
    if (broken != constraints_.end()) {
      ++listing.pruned[broken->name];
    } else if (config.schedule == Schedule::kPersistent && same_shares_with_fewer(config)) {
      ++listing.pruned["splits_above_pieces"];
    } else {
      listing.configs.push_back(config);
    }
  }
  return listing;
}

ResourceUse Space::use(const Problem& problem, const KernelConfig& config) const {
  const int64_t units = std::max(1, device_.compute_units);
  ResourceUse use;
  use.local_memory_bytes = int64_t{config.stages} * config.tile_n * row_bytes(problem.kv_dtype);
  use.workspace_bytes = workspace_bytes(problem.batch, problem.q_len, problem.nhead, config.splits);
  use.stage2_workgroups = config.splits > 1 ? int64_t{problem.batch} * problem.q_len *
                                                  problem.nhead * config.stage2_tiles
                                            : 0;
  if (config.schedule == Schedule::kPersistent) {
    const Shares shares = persistent_shares(device_, problem, config);
    use.stage1_workgroups = shares.count;
    use.waves = 1;
    use.trips = shares.base + (shares.longer > 0 ? 1 : 0);
    return use;
  }
  use.stage1_workgroups = problem.batch * request_workgroups(problem, config) *
                          effective_splits(problem.seq_len, config.splits, config.tile_n);
  use.waves = ceil_div(use.stage1_workgroups, units);
  use.trips = trips(problem.seq_len, config.splits, config.tile_n);
  return use;
}

int64_t row_groups(const Problem& problem, const KernelConfig& config) {
  return request_groups(int64_t{problem.q_len} * problem.nhead, std::max(1, config.group_rows));
}

int64_t request_workgroups(const Problem& problem, const KernelConfig& config) {
  return row_groups(problem, config) * group_workgroups(config.group_rows);
}

Shares persistent_shares(const DeviceInfo& device,
                         const Problem& problem,
                         const KernelConfig& config) {
  const int64_t total =
      problem.batch * row_groups(problem, config) * counted_blocks(problem.seq_len, config.tile_n);
  const int64_t longest = counted_blocks(problem.seq_len * problem.imbalance, config.tile_n);
  const int64_t units = std::max(1, device.compute_units);
  return make_shares(total, longest, persistent_workgroups(units, config), config.splits);
}

int64_t workspace_bytes(int64_t batch, int64_t q_len, int64_t nhead, int64_t splits) {
  if (splits <= 1) return 0;
  const int64_t rows = batch * q_len * nhead * splits;
  const int64_t lse_bytes = ceil_div(rows * int64_t{sizeof(float)}, 64) * 64;
  return rows * kValueDim * int64_t{sizeof(float)} + lse_bytes;
}

}  // namespace mla

// SPDX-License-Identifier: MIT
#include "kernels/nvidia_space.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "kernels/bh16_layout.h"
#include "kernels/space_parts.h"
#include "kernels/wide_layout.h"

namespace mla {
namespace {

// The split counts of split_search, those that fill the SMs once or twice at a power of two of row
// groups, or at three times one, and those that fill four fifths: SMs share paths to memory in
// unequal numbers, and with some idle the others end together.
std::vector<int32_t> nvidia_split_search(int32_t compute_units) {
  std::vector<int32_t> values = split_search(compute_units);
  for (const int32_t groups : {1, 2, 3, 4, 6, 8, 12, 16, 24, 48}) {
    for (const int32_t workgroups : {compute_units * 4 / 5, compute_units, compute_units * 2}) {
      const int32_t splits = workgroups / groups;
      if (splits >= 1 && splits <= kMaxSplits) values.push_back(splits);
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Constraint nvidia_fits(int64_t local_memory_bytes) {
  return {"local_memory",
          "the copy ring does not fit into " + std::to_string(local_memory_bytes) +
              " bytes of shared memory",
          [local_memory_bytes](const Problem& problem, const KernelConfig& config) {
            const int bytes = is_wide(config.group_rows)
                                  ? WideLayout::bytes()
                                  : bh16_layout(config, problem.kv_dtype).bytes();
            return local_memory_bytes <= 0 || bytes <= local_memory_bytes;
          }};
}

// The warpgroup kernels of row groups of 64 and 128 come in one shape each.
KernelConfig wide_shape(int32_t group_rows) {
  KernelConfig config;
  config.tile_n = kWideTileN;
  config.stages = kWideStages;
  config.wait = Wait::kPartial;
  config.stage1_warps = kWideConsumerWarps;
  config.stage2_warps = 8;
  config.group_rows = group_rows;
  return config;
}

std::vector<Constraint> wide_constraints() {
  return {{"group_rows_wide",
           "row groups of 64 and 128 have tile_n=64 stages=2 wait=partial stage1_warps=8 and the "
           "uniform schedule",
           [](const Problem&, const KernelConfig& config) {
             const KernelConfig shape = wide_shape(config.group_rows);
             return !is_wide(config.group_rows) ||
                    (config.tile_n == shape.tile_n && config.stages == shape.stages &&
                     config.wait == shape.wait && config.stage1_warps == shape.stage1_warps &&
                     config.schedule == shape.schedule);
           }},
          {"group_rows_dtype",
           "row groups of more than 16 read bf16 rows alone",
           [](const Problem& problem, const KernelConfig& config) {
             return config.group_rows == kTeamRows || problem.kv_dtype == KvDtype::kBf16;
           }}};
}

// bf16 rows come half as fast: two teams keep up.
Constraint three_teams() {
  return {
      "three_teams",
      "workgroups of 12 warps are for fp8 rows in row groups of 16 and tiles of at most 32 rows",
      [](const Problem& problem, const KernelConfig& config) {
        const bool three = config.stage1_warps == kMaxTeams * kWarpsPerTeam;
        return !three || (config.group_rows == kTeamRows && problem.kv_dtype == KvDtype::kFp8 &&
                          config.tile_n <= 32);
      }};
}

Constraint two_teams_a_ring() {
  return {"group_rows_32",
          "row groups of 32 have workgroups of 8 warps",
          [](const Problem&, const KernelConfig& config) {
            return config.group_rows != 32 || config.stage1_warps == 2 * kWarpsPerTeam;
          }};
}

Constraint where_persistent(std::string name,
                            std::string reason,
                            std::function<bool(const Problem&, const KernelConfig&)> holds) {
  return {std::move(name),
          "the persistent schedule " + std::move(reason),
          [holds = std::move(holds)](const Problem& problem, const KernelConfig& config) {
            return config.schedule != Schedule::kPersistent || holds(problem, config);
          }};
}

// Every workgroup reserves this much shared memory of its SM beside its own.
constexpr int64_t kReservedBytes = 1024;

// Whether an SM runs two workgroups at once.
bool two_fit(const Bh16Layout& layout, int64_t local_memory_bytes) {
  return local_memory_bytes <= 0 ||
         2 * (layout.bytes() + kReservedBytes) <= local_memory_bytes + kReservedBytes;
}

std::vector<Constraint> persistent_constraints(int64_t local_memory_bytes) {
  const int64_t sm_bytes = local_memory_bytes + kReservedBytes;
  return {
      where_persistent(
          "persistent_splits",
          "needs splits >= 2: a share may end within a request",
          [](const Problem&, const KernelConfig& config) { return config.splits >= 2; }),
      where_persistent("persistent_order",
                       "has one order, batch_major",
                       [](const Problem&, const KernelConfig& config) {
                         return config.order == Order::kBatchMajor;
                       }),
      where_persistent("persistent_warps",
                       "has workgroups of 4 warps for each 16 group rows",
                       [](const Problem& problem, const KernelConfig& config) {
                         return bh16_layout(config, problem.kv_dtype).rings() == 1;
                       }),
      where_persistent(
          "persistent_tile",
          "has tiles of at most 32 rows",
          [](const Problem&, const KernelConfig& config) { return config.tile_n <= 32; }),
      where_persistent("persistent_local_memory",
                       "runs two workgroups of 4 warps an SM, whose copy rings do not fit into " +
                           std::to_string(sm_bytes) + " bytes of shared memory",
                       [local_memory_bytes](const Problem& problem, const KernelConfig& config) {
                         const Bh16Layout layout = bh16_layout(config, problem.kv_dtype);
                         return layout.teams > 1 || two_fit(layout, local_memory_bytes);
                       })};
}

// The kernels count blocks in 32 bits.
Constraint persistent_blocks() {
  return {"persistent_blocks",
          "the persistent schedule has at most 2147483647 blocks",
          [](const Problem& problem, const KernelConfig& config) {
            return config.schedule != Schedule::kPersistent ||
                   problem.batch * row_groups(problem, config) *
                           counted_blocks(problem.seq_len, config.tile_n) <=
                       INT32_MAX;
          }};
}

// `base` in the last of the shapes that a problem may have with it.
KernelConfig last_allowed(const Space& space,
                          const Problem& problem,
                          const KernelConfig& base,
                          std::initializer_list<const char*> shapes) {
  KernelConfig last = base;
  for (const char* shape : shapes) {
    const KernelConfig config = parse_config(shape, base);
    if (space.allows(problem, config)) last = config;
  }
  return last;
}

// H200 (NOTES.md, "The default"). `wide`: the neutral configurations of 32 and more group rows.
DefaultCosts nvidia_costs(const Space& space,
                          const std::vector<KernelConfig>& wide,
                          const Problem& fp8,
                          const KernelConfig& fp8_neutral) {
  DefaultCosts costs;
  const KernelConfig narrow = space.neutral();
  costs.kernels = {{narrow, 1, 9.07, 4.67, 0.0250, 0.0340, 0.03}};
  const KernelConfig one_team = parse_config("stage1_warps=4", narrow);
  if (space.allows({}, one_team) &&
      two_fit(bh16_layout(one_team, KvDtype::kBf16), space.device().local_memory_bytes))
    // Two of them that share a compute unit walk no faster while others idle: 67 requests in 134 of
    // 264 places took 25 % longer than in 201.
    costs.kernels.push_back({one_team, 2, 10.8, 4.67, 0.0520, 0.0738, 0.03});
  for (const KernelConfig& config : wide) {
    if (config.group_rows == 32)
      costs.kernels.push_back({config, 1, 12.53, 8.16, 0.0325, 0.0340, 0.38});
    if (config.group_rows == 64)
      costs.kernels.push_back({config, 1, 12.29, 13.63, 0.0300, 0.0340, 7.18});
    if (config.group_rows == 128)
      costs.kernels.push_back({config, 1, 14.02, 16.82, 0.0273, 0.0340, 4.88});
  }
  costs.far_bytes = 2e9;
  costs.far_row_growth = 0.0217;
  costs.far_memory_growth = 0.0104;
  costs.merge_us = 1.92;
  costs.split_us = 0.446;
  costs.late_us = 2.0;
  costs.beside_warps = 13;
  costs.long_fp8 = last_allowed(space, fp8, fp8_neutral, {"stage1_warps=12 stages=3"});
  costs.fp8_work = costs.long_fp8 == fp8_neutral ? 0 : 1 << 20;
  costs.stage2_warps = 40;
  costs.stage2_share = 0.125;
  costs.stage2_splits = 24;
  return costs;
}

}  // namespace

// Two teams with rings of two tiles of 32 rows where they fit: 16 x 3 took up to 40 % longer
// (NOTES.md, "The default"). Of the rings that two teams share the one with the largest tiles ("Row
// groups of 32"). Of fp8 rows tiles of 32: those of 16 took a third longer ("fp8 rows").
Space nvidia_space(const DeviceInfo& device) {
  const bool warpgroups = device.arch == "sm_90";
  std::vector<int32_t> group_rows = {16, 32}, stage1_warps = {4, 8};
  if (warpgroups) {
    group_rows.insert(group_rows.end(), {64, 128});
    stage1_warps.push_back(kMaxTeams * kWarpsPerTeam);
  }
  const bool large =
      device.local_memory_bytes <= 0 || Bh16Layout{32, 2, 2}.bytes() <= device.local_memory_bytes;
  std::vector<KnobRange> ranges = {
      {Knob::kSplits, one_to(kMaxSplits), nvidia_split_search(device.compute_units), 1, ""},
      {Knob::kTileN, {16, 32, 64}, {16, 32, 64}, large ? 32 : 16, ""},
      {Knob::kStages, {2, 3, 4, 5, 6, 8, 11}, {2, 3, 4, 5, 6, 8, 11}, large ? 2 : 3, ""},
      {Knob::kWait, {kDrained, kPartial}, {kDrained, kPartial}, kPartial, ""},
      {Knob::kOrder, {0, 1}, {0, 1}, 0, ""},
      {Knob::kStage1Warps, stage1_warps, stage1_warps, 8, ""},
      {Knob::kStage2Tiles, {1, 2, 4, 8}, {1, 2, 4, 8}, 1, ""},
      {Knob::kStage2Warps, {1, 2, 4, 8, 16}, {1, 2, 4, 8, 16}, 8, ""},
      {Knob::kSchedule, {kUniform, kPersistent}, {kUniform, kPersistent}, kUniform, ""},
      {Knob::kGroupRows, group_rows, group_rows, 16, ""}};
  std::vector<Constraint> constraints = wide_constraints();
  for (Constraint& constraint : persistent_constraints(device.local_memory_bytes)) {
    constraints.push_back(std::move(constraint));
  }
  constraints.push_back(persistent_blocks());
  constraints.push_back(split_major_batch());
  constraints.push_back(split_major_xcds(device.xcds));
  constraints.push_back(three_teams());
  constraints.push_back(two_teams_a_ring());
  constraints.push_back(nvidia_fits(device.local_memory_bytes));
  const Space space(device, ranges, constraints);
  std::vector<KernelConfig> wide_neutral = {
      last_allowed(space,
                   {},
                   space.neutral(32),
                   {"tile_n=32 stages=2", "tile_n=32 stages=3", "tile_n=64 stages=2"})};
  if (warpgroups) {
    wide_neutral.push_back(wide_shape(64));
    wide_neutral.push_back(wide_shape(128));
  }
  Problem fp8;
  fp8.kv_dtype = KvDtype::kFp8;
  const KernelConfig fp8_neutral =
      last_allowed(space,
                   fp8,
                   space.neutral(),
                   {"tile_n=32 stages=2", "tile_n=32 stages=3", "tile_n=32 stages=4"});
  DefaultCosts costs = nvidia_costs(space, wide_neutral, fp8, fp8_neutral);
  return Space(device,
               std::move(ranges),
               std::move(constraints),
               std::move(wide_neutral),
               fp8_neutral,
               std::move(costs));
}

}  // namespace mla

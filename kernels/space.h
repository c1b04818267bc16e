// SPDX-License-Identifier: MIT
// What a device can be asked to run: the legal values of each knob, the values a search visits, the
// constraints between knobs with a reason a person can read, and what a configuration uses.
// Declared by the device backend; nothing else in the project knows which knobs a device has.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/problem.h"
#include "kernels/shares.h"

namespace mla {

struct KnobRange {
  Knob knob{};
  std::vector<int32_t> legal;   // ascending; {0} for a knob the device lacks
  std::vector<int32_t> search;  // the subset a search visits, ascending; holds `neutral`
  int32_t neutral = 0;          // what the default policy takes where it has no rule of its own
  std::string note;             // why `search` is smaller than `legal`, or empty
  bool over_tiles = false;      // the default policy divides `neutral` by stage2_tiles
};

struct Constraint {
  std::string name;    // "split_major_batch"
  std::string reason;  // "split-major order needs batch > 1"
  std::function<bool(const Problem&, const KernelConfig&)> holds;
};

// What the default policy knows of a device beside neutral values, fitted to times measured there:
// the terms of a model of one decode step (policy/default_splits.h).
struct DefaultCosts {
  struct Kernel {
    KernelConfig config;       // but for the splits and stage 2
    int32_t resident = 1;      // workgroups that a compute unit runs at once
    double begin_us = 0;       // to begin and end a step
    double wave_us = 0;        // to begin and end each further wave of workgroups
    double row_us = 0;         // a workgroup's walk over one cached row, at the least
    double memory_row_us = 0;  // the same where all of them read rows of their own
    double pair_us = 0;        // to merge two partial results
  };
  std::vector<Kernel> kernels;  // by group rows, ascending; none: splits fill one wave
  // What row_us and memory_row_us grow by for each doubling of the rows in use above far_bytes.
  double far_bytes = 0;
  double far_row_growth = 0;
  double far_memory_growth = 0;
  double merge_us = 0;      // more than two partial results, by stage 2
  double split_us = 0;      // splits for each of a workgroup's warps of stage 2
  double late_us = 0;       // stage 2 without room beside stage 1
  double beside_warps = 0;  // of stage 2, that an idle compute unit has room for
  // From so many query rows x cached rows, `long_fp8` takes the place of the neutral configuration
  // of fp8 rows; 0: never.
  int64_t fp8_work = 0;
  KernelConfig long_fp8;
  int32_t stage2_warps = 0;  // for a compute unit; 0: the count is the neutral one
  double stage2_share = 1;   // of the compute units: workgroups of stage 2 that are enough
  // From so many splits, rows that leave compute units idle are cut; twice from four times as many.
  int32_t stage2_splits = 0;
};

struct ResourceUse {
  int64_t local_memory_bytes = 0;  // per stage-1 workgroup
  int64_t workspace_bytes = 0;     // partial results of all splits; 0 for one split
  int64_t stage1_workgroups = 0;
  int64_t stage2_workgroups = 0;
  int64_t waves = 0;  // ceil(stage1_workgroups / compute units); 1 where all run at once
  int64_t trips = 0;  // KV-loop iterations of the longest workgroup at the mean length
};

class Space {
 public:
  Space() = default;
  // `ranges` holds every knob once, in knob order. `wide_neutral`, ascending in group rows: what a
  // default takes where a request has more query rows than a row group of the ranges' neutral width
  // holds; other widths are for a search to try. `fp8_neutral`: what it takes for fp8 rows where it
  // takes that width. `costs`: what else it goes by. Throws Error(kInternal) for ranges or
  // configurations that do not fit.
  Space(DeviceInfo device,
        std::vector<KnobRange> ranges,
        std::vector<Constraint> constraints,
        std::vector<KernelConfig> wide_neutral = {},
        std::optional<KernelConfig> fp8_neutral = std::nullopt,
        DefaultCosts costs = {});

  const DeviceInfo& device() const { return device_; }
  const std::vector<KnobRange>& ranges() const { return ranges_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  const KnobRange& range(Knob knob) const { return ranges_[static_cast<size_t>(knob)]; }

  // Every knob at its neutral value, which may depend on the group rows.
  KernelConfig neutral(int32_t group_rows) const;
  KernelConfig neutral() const { return neutral(range(Knob::kGroupRows).neutral); }
  // The same for rows of a dtype.
  KernelConfig neutral(KvDtype kv_dtype) const;
  const std::vector<KernelConfig>& wide_neutral() const { return wide_neutral_; }
  const DefaultCosts& costs() const { return costs_; }

  // The fewest group rows of a default that hold a request's query rows, else the most legal ones.
  // Wider groups would make the same walks, with a part of every product for nothing.
  int32_t filled_group_rows(const Problem& problem) const;

  // Why `config` may not be launched for `problem`; nothing where it may. An illegal value names
  // the nearest legal ones.
  std::optional<std::string> violation(const Problem& problem, const KernelConfig& config) const;

  // Whether there is no violation. No allocation, so that a lookup may ask.
  bool allows(const Problem& problem, const KernelConfig& config) const;

  struct Listing {
    std::vector<KernelConfig> configs;      // legal and distinct in effect, in knob order
    std::map<std::string, int64_t> pruned;  // constraint name -> number left out
  };
  // The configurations a search may visit. Those that run the same as another one are left out:
  // split counts above the block count ("splits_above_blocks"), stage-2 knobs where one split
  // leaves stage 2 nothing to do ("stage2_unsplit"), row groups that fewer rows fill as well
  // ("group_rows_unfilled"), and persistent schedules whose shares are those of a smaller split
  // count ("splits_above_pieces").
  Listing list(const Problem& problem) const;

  ResourceUse use(const Problem& problem, const KernelConfig& config) const;

 private:
  DeviceInfo device_;
  std::vector<KnobRange> ranges_;
  std::vector<Constraint> constraints_;
  std::vector<KernelConfig> wide_neutral_;
  std::optional<KernelConfig> fp8_neutral_;
  DefaultCosts costs_;
};

// Row groups of one request (row_group.h).
int64_t row_groups(const Problem& problem, const KernelConfig& config);
// Workgroups that walk one of the splits of a request.
int64_t request_workgroups(const Problem& problem, const KernelConfig& config);

// The shares of a persistent schedule with the longest request that the imbalance class allows.
// `config.splits` is at least 2.
Shares persistent_shares(const DeviceInfo& device,
                         const Problem& problem,
                         const KernelConfig& config);

// Bytes of fp32 partial results and their LSE for a launch budget of `splits`: monotone in every
// argument, so that the bound of the largest problem serves all smaller ones. 0 for splits <= 1.
int64_t workspace_bytes(int64_t batch, int64_t q_len, int64_t nhead, int64_t splits);

}  // namespace mla

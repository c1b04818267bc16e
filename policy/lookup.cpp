// SPDX-License-Identifier: MIT
#include "policy/lookup.h"

#include <algorithm>

#include "kernels/shape_key.h"
#include "policy/carried.h"
#include "policy/default_splits.h"
#include "policy/rulings.h"
#include "policy/selection.h"
#include "policy/shape_table.h"
#include "policy/table_loader.h"
#include "policy/wave_edge.h"

namespace mla::policy {
namespace {

constexpr const char* kWaveEdge = "just past a full wave of workgroups, not measured here";
constexpr const char* kOtherKernel =
    "the default here has another kernel than at the tuned length of this bucket";
constexpr const char* kOtherGroups =
    "the winner of this bucket has other row groups than the default";
constexpr const char* kSmallBucketGain = "the winner of this bucket gains too little";
constexpr const char* kOtherDefault = "the winner of this bucket beat another default";
constexpr const char* kSmallGain = "the winners around this shape gain too little where measured";
constexpr const char* kLongerWalk =
    "a longer walk against the default's than where it was measured";

// All but the splits and the merge.
bool same_kernel(const KernelConfig& a, KernelConfig b) noexcept {
  b.splits = a.splits;
  b.stage2_tiles = a.stage2_tiles;
  b.stage2_warps = a.stage2_warps;
  return a == b;
}

// Whether what a winner walks longer than it did may take all that it gains at least.
bool walks_longer(double ratio, double measured_ratio) noexcept {
  return ratio > measured_ratio * (1 + kLeastCarriedGain);
}

// Why no tuned shape around this one is asked.
constexpr const char* reason(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      break;
    case Refusal::kNoAnswer:
      return "a tuned shape around this one has no sure answer";
    case Refusal::kStale:
      return "the tuned shapes around this one have to be verified again";
    case Refusal::kLoses:
      return "the winners around this shape lose to the default at a neighbour";
    case Refusal::kNoisy:
      return "the winners around this shape are within the noise of their measurement";
    case Refusal::kSmallGain:
      return kSmallGain;
    case Refusal::kNotMeasured:
      return "the winners around this shape were not measured at their neighbours";
  }
  return "shape not tuned";
}

// The default's answer for the most work items is one split and an untiled stage 2, which needs no
// workspace and is legal for every problem.
Problem largest_problem() {
  Problem problem;
  problem.batch = kMaxBatch;
  problem.nhead = kMaxHeads;
  problem.q_len = kMaxQLen;
  problem.seq_len = kMaxSeqLen;
  return problem;
}

}  // namespace

LookupTable::LookupTable(const std::vector<std::string>& paths, const Space& space)
    : LookupTable(paths, space, DefaultPolicy(space)) {}

LookupTable::LookupTable(const std::vector<std::string>& paths,
                         const Space& space,
                         const DefaultPolicy& default_policy)
    : LookupTable(paths, space, default_policy, load_entries(paths, space, default_policy)) {}

LookupTable::LookupTable(const std::vector<std::string>& paths,
                         const Space& space,
                         const DefaultPolicy& default_policy,
                         LoadedEntries loaded)
    : table_(loaded.entries),
      cells_(std::move(loaded.cells)),
      default_policy_(default_policy),
      space_(space),
      paths_(paths),
      needs_(std::move(loaded.needs)),
      warnings_(std::move(loaded.warnings)),
      shapes_(loaded.shapes),
      fingerprint_(loaded.fingerprint),
      failed_files_(loaded.failed_files) {}

Answer LookupTable::find(const Problem& problem, ShapeKey exact) const noexcept {
  if (exact == kNoKey) return robust_answer(problem);
  if (const ShapeEntry* entry = table_.find(exact)) return exact_answer(problem, *entry);
  if (const ShapeEntry* entry = table_.find(bucket_key(problem))) {
    return bucketed_answer(problem, *entry);
  }
  if (const CellTable::Cell* cell = cells_.find(family_key(problem), problem)) {
    return interpolated_answer(problem, *cell);
  }
  return default_in_range(problem, "shape not tuned");
}

Answer LookupTable::robust_answer(const Problem& problem) const noexcept {
  const ShapeKey key = robust_key(problem);
  if (key == kNoKey) return default_answer(problem, Source::kDefault, "shape out of range");
  const ShapeEntry* entry = table_.find(key);
  if (entry == nullptr) return default_in_range(problem, "length unknown");
  const RulingRow& ruling = kRulings[entry->ruling];
  if (!ruling.carries) return default_in_range(problem, ruling.robust_reason);
  return {.config = ruling.wins ? unpack_config(entry->config) : untuned(problem),
          .source = Source::kRobust,
          .reason = ruling.robust_reason,
          .gain = entry->gain,
          .winner_id = static_cast<int64_t>(entry->winner_id),
          .database_index = static_cast<int32_t>(entry->database),
          .database = paths_[entry->database].c_str()};
}

Answer LookupTable::exact_answer(const Problem& problem, const ShapeEntry& entry) const noexcept {
  const RulingRow& ruling = kRulings[entry.ruling];
  if (!ruling.advises) return default_in_range(problem, ruling.exact_reason);
  return {.config = ruling.wins ? unpack_config(entry.config) : untuned(problem),
          .source = Source::kExact,
          .reason = ruling.exact_reason,
          .gain = entry.gain,
          .expected_us = entry.expected_us,
          .winner_id = static_cast<int64_t>(entry.winner_id),
          .database_index = static_cast<int32_t>(entry.database),
          .database = paths_[entry.database].c_str()};
}

Answer LookupTable::bucketed_answer(const Problem& problem,
                                    const ShapeEntry& entry) const noexcept {
  const RulingRow& ruling = kRulings[entry.ruling];
  if (!ruling.carries) return default_in_range(problem, ruling.bucket_reason);
  const KernelConfig usual = untuned(problem);
  const KernelConfig config = ruling.wins ? unpack_config(entry.config) : usual;
  if (ruling.wins) {
    if (past_wave_edge(space_.device(), problem, config))
      return default_in_range(problem, kWaveEdge);
    if (entry.gain < kLeastCarriedGain) return default_in_range(problem, kSmallBucketGain);
    if (entry.tuned_length == 0) return default_in_range(problem, kOtherDefault);
    Problem tuned = problem;
    tuned.seq_len = entry.tuned_length;
    const KernelConfig usual_there = untuned(tuned);
    if (!same_kernel(usual_there, usual)) return default_in_range(problem, kOtherKernel);
    if (config.group_rows != usual.group_rows) return default_in_range(problem, kOtherGroups);
    if (walks_longer(walk_ratio(space_, problem, config, usual),
                     walk_ratio(space_, tuned, config, usual_there)))
      return default_in_range(problem, kLongerWalk);
  }
  return {.config = config,
          .source = Source::kBucketed,
          .reason = ruling.bucket_reason,
          .gain = entry.gain,
          .winner_id = static_cast<int64_t>(entry.winner_id),
          .database_index = static_cast<int32_t>(entry.database),
          .database = paths_[entry.database].c_str()};
}

Answer LookupTable::interpolated_answer(const Problem& problem,
                                        const CellTable::Cell& cell) const noexcept {
  const Problem corner = nearest_corner(cell, problem);
  if (is_far(corner, problem)) return default_in_range(problem, "too far from the tuned shapes");
  const char* why = reason(cell.refusal);
  for (const ShapeEntry& entry : cells_.candidates(cell)) {
    const bool wins = kRulings[entry.ruling].wins;
    const KernelConfig there = at_shape(unpack_config(entry.config), untuned(corner), corner);
    const KernelConfig usual = untuned(problem);
    const KernelConfig config =
        wins ? at_shape(unpack_config(entry.config), usual, problem) : usual;
    if (wins && past_wave_edge(space_.device(), problem, config)) {
      why = kWaveEdge;
      continue;
    }
    if (wins && waves_or_trips_differ(space_, corner, there, problem, config)) {
      why = "other waves or trips than at the nearest tuned shape";
      continue;
    }
    if (wins && walks_longer(walk_ratio(space_, problem, config, usual), entry.walk_ratio)) {
      why = kLongerWalk;
      continue;
    }
    return {.config = config,
            .source = Source::kInterpolated,
            .reason = wins ? "holds at the tuned shapes around this one"
                           : "default is best at the tuned shapes around this one",
            .gain = entry.gain,
            .winner_id = static_cast<int64_t>(entry.winner_id),
            .database_index = static_cast<int32_t>(entry.database),
            .database = paths_[entry.database].c_str()};
  }
  return default_in_range(problem, why);
}

Answer LookupTable::default_in_range(const Problem& problem, const char* reason) const noexcept {
  return {.config = untuned(problem), .reason = reason};
}

bool LookupTable::in_range(const Problem& problem) noexcept {
  Problem of_known_length = problem;
  if (problem.seq_len == 0) of_known_length.seq_len = kMaxSeqLen;
  return exact_key(of_known_length) != kNoKey;
}

Answer LookupTable::default_answer(const Problem& problem,
                                   Source source,
                                   const char* reason) const noexcept {
  const bool known = in_range(problem);
  return {.config = untuned(known ? problem : largest_problem()),
          .source = source,
          .reason = known ? reason : "shape out of range",
          .shape_in_range = known};
}

int64_t LookupTable::workspace_bound(int32_t batch, int32_t q_len, int32_t nhead) const noexcept {
  int64_t bound = 0;
  for (const SplitsNeed& need : needs_) {
    if (need.first_batch > batch || need.q_len > q_len || need.nhead > nhead) continue;
    const int32_t largest = std::min<int32_t>(need.last_batch, batch);
    bound = std::max(bound, workspace_bytes(largest, need.q_len, need.nhead, need.splits));
  }
  // The default's splits depend on dtype, batch and row groups. Legal group rows are multiples of
  // the fewest: between two multiples of those the splits stay the same, and the most query rows
  // need the most workspace.
  const int32_t step = space_.range(Knob::kGroupRows).legal.front();
  const int32_t most_rows = q_len * nhead;
  Problem problem;
  for (int32_t rows = std::min(step, most_rows);; rows = std::min(rows + step, most_rows)) {
    problem.nhead = rows;
    // More requests are not split in two, where a CU runs two workgroups at most.
    const auto split = static_cast<int32_t>(kMostWaves) * space_.device().compute_units;
    for (int32_t b = 1; b <= std::min(batch, split); ++b) {
      problem.batch = b;
      for (const KvDtype dtype : {KvDtype::kBf16, KvDtype::kFp8}) {
        problem.kv_dtype = dtype;
        bound = std::max(bound, workspace_bytes(b, 1, rows, default_policy_.most_splits(problem)));
      }
    }
    if (rows == most_rows) return bound;
  }
}

size_t LookupTable::memory_bytes() const {
  return table_.memory_bytes() + cells_.memory_bytes() + needs_.capacity() * sizeof(SplitsNeed);
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
// The C++ side of the run-time lookup, shared by the C ABI (mla_policy.h) and `mla-tune lookup`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shape_key.h"
#include "kernels/space.h"
#include "policy/cell_table.h"
#include "policy/default_memo.h"
#include "policy/default_policy.h"
#include "policy/shape_table.h"
#include "policy/table_loader.h"

namespace mla::policy {

// Names reach JSON and the C ABI.
enum class Source : int32_t {
  kExact = 0,         // this very shape was tuned
  kBucketed = 1,      // a tuned shape of the same length bucket
  kInterpolated = 2,  // between tuned shapes whose winner holds at all of them
  kRobust = 3,        // unknown length
  kDefault = 4,       // the default policy
  kDisabled = 5,      // lookups are switched off
};
inline constexpr int kSourceCount = 6;
inline constexpr const char* kSourceNames[kSourceCount] = {
    "exact", "bucketed", "interpolated", "robust", "default", "disabled"};
constexpr std::string_view name(Source source) {
  return kSourceNames[static_cast<int32_t>(source)];
}

struct Answer {
  KernelConfig config;
  Source source = Source::kDefault;
  const char* reason = "";      // static text
  float gain = 0;               // over the default at tuning time; 0 unknown
  float expected_us = 0;        // 0 unknown; only for exact answers
  int64_t winner_id = 0;        // 0: none
  int32_t database_index = -1;  // which of the opened files answered; -1: none
  const char* database = "";    // path of that file, valid while the table lives
  bool shape_in_range = true;   // false: not a problem of problem.h; config then suits any shape
};

// An immutable table: loaded once, then read by any number of threads.
//
// Order: exact key, bucket key, cell between tuned shapes, default. Of several rows with one exact
// key the last file's count. A bucket answers only where all its tuned lengths agree on one winner,
// with the default's row groups, and the default has the kernel that it has there; a cell with a
// winner that was measured at all its corners (selection.h), where batch, length, waves and trips
// are near the nearest of them. Either only where that gains kLeastCarriedGain and its walk against
// the default's is by no more than that longer than where it was measured, and not just past a full
// wave (wave_edge.h). A bucket's refusal is final. An unknown length has a key of its own.
class LookupTable {
 public:
  // Loads the databases in order; a later file's rows win over an earlier one's (overlay). A file
  // that cannot be used adds a line to warnings() and the rest still works. Never throws for bad
  // files.
  LookupTable(const std::vector<std::string>& paths, const Space& space);
  LookupTable(const LookupTable&) = delete;
  LookupTable& operator=(const LookupTable&) = delete;

  // No throw, no allocation, no lock, no file, no device call.
  Answer find(const Problem& problem) const noexcept { return find(problem, exact_key(problem)); }
  // The same where the exact key is at hand.
  Answer find(const Problem& problem, ShapeKey exact) const noexcept;

  // Whether it is a problem of problem.h; its length may be unknown.
  static bool in_range(const Problem& problem) noexcept;

  // What find() answers without any database, under the given label.
  Answer default_answer(const Problem& problem, Source source, const char* reason) const noexcept;
  const DefaultPolicy& default_policy() const noexcept { return default_policy_; }

  // Workspace that suffices for every answer for a problem with at most this batch, q_len and
  // nhead. Monotone in each. Not for the hot path: walks the table's distinct (batch, q_len,
  // nhead).
  int64_t workspace_bound(int32_t batch, int32_t q_len, int32_t nhead) const noexcept;

  // One line per file: cannot be used at all, or some of its rows cannot.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Files that could not be used at all.
  int64_t failed_files() const { return failed_files_; }
  // Distinct tuned shapes.
  int64_t rows() const { return shapes_; }
  // Equal for tables that were loaded from the same advice, whatever files it came from.
  uint64_t fingerprint() const { return fingerprint_; }
  size_t memory_bytes() const;
  const Space& space() const { return space_; }
  const ShapeTable& table() const { return table_; }

 private:
  LookupTable(const std::vector<std::string>& paths,
              const Space& space,
              const DefaultPolicy& default_policy);
  LookupTable(const std::vector<std::string>& paths,
              const Space& space,
              const DefaultPolicy& default_policy,
              LoadedEntries loaded);

  KernelConfig untuned(const Problem& problem) const noexcept {
    return memo_.answer(default_policy_, problem);
  }
  Answer robust_answer(const Problem& problem) const noexcept;
  Answer exact_answer(const Problem& problem, const ShapeEntry& entry) const noexcept;
  Answer bucketed_answer(const Problem& problem, const ShapeEntry& entry) const noexcept;
  Answer interpolated_answer(const Problem& problem, const CellTable::Cell& cell) const noexcept;
  Answer default_in_range(const Problem& problem, const char* reason) const noexcept;

  ShapeTable table_;
  CellTable cells_;
  DefaultPolicy default_policy_;
  DefaultMemo memo_;
  Space space_;
  std::vector<std::string> paths_;
  std::vector<SplitsNeed> needs_;
  std::vector<std::string> warnings_;
  int64_t shapes_;
  uint64_t fingerprint_;
  int64_t failed_files_;
};

}  // namespace mla::policy

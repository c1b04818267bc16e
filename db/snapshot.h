// SPDX-License-Identifier: MIT
// Reads the winners of one database for one device, once, for the run-time policy. No SQLite type
// here. The file is untrusted input: a row that cannot be used is skipped with a reason.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/record.h"
#include "kernels/space.h"

namespace mla::db {

struct SnapshotRow {
  Problem problem;
  KernelConfig config;
  Verdict verdict = Verdict::kDefaultBest;
  float gain = 0;
  float expected_us = 0;      // 0: unknown
  bool verify_again = false;  // a soft field differs, or the row is marked
  bool demoted =
      false;  // WinnerStatus::kDemoted: it hides older rows of its shape, and answers nothing
  int64_t winner_id = 0;
  int64_t tuning_id = 0;
  float placebo_noise = 0;      // of its final
  int32_t rounds = 0;           // of its final
  KernelConfig default_config;  // the default policy's answer at tuning time
  bool against_default = true;  // false: the gain is over another baseline
};

// The winner of a neighbour at the shape of a tuning; counts for that tuning's winner only.
struct SnapshotLoss {
  int64_t tuning_id = 0;
  KernelConfig config;
  float loss = 0;  // median of time / default's time - 1
  float placebo_noise = 0;
  int32_t rounds = 0;  // at least 1
};

struct SnapshotSinks {
  std::function<void(const SnapshotRow&)> row;
  std::function<void(const SnapshotLoss&)> loss = nullptr;  // after all rows; null: not read
};

struct SnapshotLoad {
  std::string database_id;
  int64_t rows_used = 0;
  int64_t rows_other_device = 0;     // a hard field differs: not for this device
  int64_t rows_skipped = 0;          // could not be believed or used
  std::vector<std::string> reasons;  // of the skipped rows: distinct, at most 16
};

// Calls `sinks.row` once for every problem with a usable current winner of `space.device()`: hard
// fields equal, variant known, configuration legal in `space`. A demoted winner arrives as the
// default configuration of its time (kDefaultBest). `environment` is what runs here: a difference
// sets verify_again; null: not compared. Throws Error(kDatabase) naming the file where it cannot be
// read at all; the sinks may then have been called. Losses arrive of every device; those that could
// not be measured or believed are left out.
SnapshotLoad load_snapshot(const std::string& path,
                           const Space& space,
                           const SnapshotSinks& sinks,
                           const Environment* environment = nullptr);

// Whether soft fields of a stored device differ from those of the one that asks. What the asker
// does not know of itself differs in nothing.
bool soft_difference(const DeviceInfo& stored, const DeviceInfo& asker);

}  // namespace mla::db

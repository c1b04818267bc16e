// SPDX-License-Identifier: MIT
// The tuning database. Every write is one BEGIN IMMEDIATE transaction with a busy timeout, so
// several processes may write to one file. Throws Error(kDatabase) naming the file for anything
// that goes wrong with it. One Store per thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/record.h"

namespace mla::db {

inline constexpr int32_t kSchemaVersion = 4;
inline constexpr int32_t kApplicationId = 0x4D4C4154;  // "MLAT"

enum class OpenMode {
  kReadOnly,   // never creates, never migrates; works in a read-only directory
  kReadWrite,  // creates the file and its directory, migrates an older schema after a backup
};

struct TuningState {
  int64_t id = 0;
  bool finished = false;
};

// One tuned shape for reports: the winner beside who measured it.
struct TuningSummary {
  int64_t tuning_id = 0;
  int64_t winner_id = 0;
  DeviceInfo device;
  Environment environment;
  RunInfo run;
  std::string protocol;
  uint64_t seed = 1;
  WinnerRecord winner;
};

struct DatabaseInfo {
  std::string path;
  std::string database_id;  // random at creation
  int32_t schema_version = 0;
  int64_t file_bytes = 0;
  int64_t devices = 0, problems = 0, candidates = 0, runs = 0;
  int64_t tunings = 0, tunings_open = 0, rounds = 0, samples = 0, outcomes = 0, winners = 0;
  std::string journal_mode;
  // Of a shipped or merged file, else empty.
  std::string parents;  // ids of the databases that it was made from
  std::string shipped_by, shipped_utc, content_sha256;
};

class Store {
 public:
  static Store open(const std::string& path, OpenMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::string& path() const;

  int64_t begin_run(const RunInfo& run);
  // Finds the tuning with this key or begins one under `run_id`.
  TuningState open_tuning(int64_t run_id, const TuningKey& key);
  void save_round(int64_t tuning_id, const RoundRecord& round);
  void save_outcome(int64_t tuning_id, const OutcomeRecord& outcome);
  // Stores the winner and marks the tuning finished, in one transaction. The newest winner of a
  // (device, problem) is the one that lookups use; older ones stay as evidence.
  void finish_tuning(int64_t tuning_id, const WinnerRecord& winner);

  // Winners of neighbours at this tuning's shape; a configuration's older loss is replaced.
  void save_losses(int64_t tuning_id, const std::vector<LossRecord>& losses);

  std::vector<RoundRecord> load_rounds(int64_t tuning_id) const;  // in the order they were saved
  std::vector<OutcomeRecord> load_outcomes(int64_t tuning_id) const;
  std::optional<WinnerRecord> load_winner(int64_t tuning_id) const;
  std::vector<LossRecord> load_losses(int64_t tuning_id) const;

  // Current winners (one per device and problem), ordered by device, nhead, batch, seq_len.
  std::vector<TuningSummary> summaries() const;

  DatabaseInfo info() const;

  struct CheckRow {
    bool ok = false;
    std::string check;  // "integrity", "foreign keys", "row 17: ..."
    std::string detail;
  };
  // SQLite's integrity and foreign key checks, every stored text parsed, every knob within the
  // space of its device, every finished tuning with a winner. Rows that are fine are not listed one
  // by one.
  std::vector<CheckRow> check() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mla::db

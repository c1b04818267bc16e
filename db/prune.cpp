// SPDX-License-Identifier: MIT
#include "db/prune.h"

#include <filesystem>

#include "db/connection.h"
#include "db/schema.h"

namespace mla::db {
namespace {

// Of each (hard_key, problem) the newest, as Store::summaries() has it.
constexpr char kCurrent[] =
    "CREATE TEMP TABLE current_winner AS SELECT max(w.id) AS id, w.tuning_id FROM winner AS w"
    " JOIN tuning AS t ON t.id = w.tuning_id JOIN device AS d ON d.id = t.device_id"
    " GROUP BY d.hard_key, t.problem_id;"
    "CREATE TEMP TABLE old_tuning AS SELECT id FROM tuning WHERE finished = 1"
    " AND id NOT IN (SELECT tuning_id FROM current_winner);";

constexpr char kOldWinners[] = "winner WHERE id NOT IN (SELECT id FROM current_winner)";
constexpr char kOldTunings[] = "tuning WHERE id IN (SELECT id FROM old_tuning)";
constexpr char kOldRounds[] = "round WHERE tuning_id IN (SELECT id FROM old_tuning)";
constexpr char kOldSamples[] =
    "sample WHERE round_id IN (SELECT id FROM round WHERE tuning_id IN (SELECT id FROM "
    "old_tuning))";

// Children before their parents.
constexpr const char* kRemoved[] = {
    kOldSamples,
    kOldRounds,
    "outcome WHERE tuning_id IN (SELECT id FROM old_tuning)",
    "loss WHERE tuning_id IN (SELECT id FROM old_tuning)",
    kOldWinners,
    kOldTunings,
    "run WHERE id NOT IN (SELECT run_id FROM tuning)",
    "device WHERE id NOT IN (SELECT device_id FROM tuning)",
    "environment WHERE id NOT IN (SELECT environment_id FROM tuning)",
    "problem WHERE id NOT IN (SELECT problem_id FROM tuning)",
    "candidate WHERE id NOT IN (SELECT candidate_id FROM sample UNION SELECT candidate_id FROM"
    " outcome UNION SELECT candidate_id FROM loss UNION SELECT config_id FROM winner UNION SELECT"
    " default_id FROM winner UNION SELECT finalist_id FROM winner)"};

int64_t file_bytes(const std::string& path) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : static_cast<int64_t>(bytes);
}

// In the log too, so that the size says what was won.
void compact(Connection& c) {
  c.outside_transaction([&] {
    c.execute("VACUUM");
    c.text("PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

}  // namespace

Pruned prune(const std::string& path, bool dry_run) {
  Pruned pruned;
  pruned.bytes_before = file_bytes(path);
  {
    Connection c(path, OpenMode::kReadWrite);
    prepare_for_writing(c);
    c.write([&] {
      c.execute(kCurrent);
      const auto count = [&](const char* rows) {
        return c.integer(std::string("SELECT count(*) FROM ") + rows);
      };
      pruned.tunings = count(kOldTunings);
      pruned.winners = count(kOldWinners);
      pruned.rounds = count(kOldRounds);
      pruned.samples = count(kOldSamples);
      if (!dry_run) {
        for (const char* rows : kRemoved) c.execute(std::string("DELETE FROM ") + rows);
      }
    });
    if (!dry_run) compact(c);
  }
  pruned.bytes_after = file_bytes(path);
  return pruned;
}

}  // namespace mla::db

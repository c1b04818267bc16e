// SPDX-License-Identifier: MIT
#include "db/snapshot.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "db/connection.h"
#include "db/fields.h"
#include "db/rows.h"
#include "db/schema.h"
#include "db/seal.h"

namespace mla::db {
namespace {

constexpr size_t kMaxReasons = 16;
// Above what any deployment needs and what the policy's table holds in memory.
constexpr int64_t kMaxWinners = 8'000'000;

// Small tables are decoded once and looked up by id. A row that cannot be believed keeps its
// reason.
struct Decoded {
  struct Candidate {
    KernelConfig config;
    std::string unusable;  // why, or empty
  };
  struct Origin {         // of devices and environments
    bool usable = false;  // device: the hard fields are those of the space
    bool soft_difference = false;
    bool relative_times = false;
    std::string unusable;
  };
  std::unordered_map<int64_t, Candidate> candidates;
  std::unordered_map<int64_t, Origin> devices;
  std::unordered_map<int64_t, Origin> environments;
};

class Loader {
 public:
  Loader(Connection& connection,
         const Space& space,
         const Environment* environment,
         const SnapshotSinks& sinks)
      : c_(connection), space_(space), environment_(environment), sinks_(sinks) {}

  SnapshotLoad load() {
    load_.database_id = c_.text("SELECT value FROM meta WHERE key = 'database_id'").substr(0, 64);
    decode_devices();
    decode_environments();
    decode_candidates();
    read_winners();
    if (sinks_.loss) read_losses();
    return std::move(load_);
  }

 private:
  void skip(const std::string& reason) {
    ++load_.rows_skipped;
    auto& reasons = load_.reasons;
    if (reasons.size() < kMaxReasons &&
        std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
      reasons.push_back(reason);
    }
  }

  void decode_devices() {
    SQLite::Statement& query =
        c_.statement("SELECT d.id, " + columns("d", fields(DeviceInfo{})) + " FROM device AS d");
    const std::string wanted = device_key(space_.device());
    Cursor row(query);
    while (row.next()) {
      Decoded::Origin& origin = decoded_.devices[row.int64()];
      try {
        const DeviceInfo device = read_device(row);
        origin.usable = device_key(device) == wanted;
        origin.soft_difference = mla::db::soft_difference(device, space_.device());
        origin.relative_times = device.relative_times;
      } catch (const BadRow& e) {
        origin.unusable = std::string("device: ") + e.what();
      }
    }
  }

  void decode_environments() {
    SQLite::Statement& query = c_.statement("SELECT e.id, " + columns("e", fields(Environment{})) +
                                            " FROM environment AS e");
    Cursor row(query);
    while (row.next()) {
      Decoded::Origin& origin = decoded_.environments[row.int64()];
      try {
        const Environment stored = read_environment(row);
        origin.usable = true;
        origin.soft_difference = environment_ != nullptr && stored != *environment_;
      } catch (const BadRow& e) {
        origin.unusable = std::string("environment: ") + e.what();
      }
    }
  }

  void decode_candidates() {
    SQLite::Statement& query = c_.statement("SELECT c.id, " + columns("c", fields(KernelConfig{})) +
                                            " FROM candidate AS c");
    Cursor row(query);
    while (row.next()) {
      Decoded::Candidate& candidate = decoded_.candidates[row.int64()];
      try {
        candidate.config = read_config(row);
      } catch (const BadRow& e) {
        candidate.unusable = std::string("configuration: ") + e.what();
      }
    }
  }

  // Newest first, so that the first row of a problem is the current one; only the ids of problems
  // seen are kept. A current row that cannot be used leaves its problem to the default: an older
  // answer was replaced for a reason.
  void read_winners() {
    static const std::string kQuery =
        "SELECT w.id, t.device_id, t.environment_id, t.problem_id, w.config_id, w.default_id,"
        " w.verdict, w.status, w.gain, w.expected_us, w.default_us, w.tuning_id, w.placebo_noise,"
        " w.rounds, w.reference, " +
        columns("p", fields(Problem{})) +
        " FROM winner AS w JOIN tuning AS t ON t.id = w.tuning_id"
        " JOIN problem AS p ON p.id = t.problem_id ORDER BY w.id DESC LIMIT " +
        std::to_string(kMaxWinners);
    SQLite::Statement& query = c_.statement(kQuery);
    Cursor row(query);
    while (row.next()) {
      try {
        read_row(row);
      } catch (const BadRow& e) {
        skip(e.what());
      }
    }
  }

  void read_row(Cursor& row) {
    SnapshotRow result;
    result.winner_id = row.int64();
    const Decoded::Origin& device = find(decoded_.devices, row.int64(), "device");
    const Decoded::Origin& environment = find(decoded_.environments, row.int64(), "environment");
    if (device.unusable.empty() && !device.usable) {
      ++load_.rows_other_device;
      return;
    }
    if (!seen_.insert(row.int64()).second) return;  // an older answer for the same problem
    const int64_t config_id = row.int64();
    const int64_t default_id = row.int64();
    result.verdict = read_verdict(row);
    const WinnerStatus status = read_status(row);
    result.gain = static_cast<float>(row.real());
    double time_us = row.real();
    const double default_us = row.real();
    result.tuning_id = row.int64();
    result.placebo_noise = static_cast<float>(row.real());
    result.rounds = row.int32();
    result.against_default = row.text() == "default";
    // A demoted winner no longer holds. Its problem is answered with the default, and by a row, so
    // that it hides a row of another database below this one.
    const bool demoted = status == WinnerStatus::kDemoted;
    result.demoted = demoted;
    if (demoted) {
      result.verdict = Verdict::kDefaultBest;
      result.gain = 0;
      time_us = default_us;
    }
    result.default_config = find(decoded_.candidates, default_id, "default").config;
    result.config = demoted ? result.default_config
                            : find(decoded_.candidates, config_id, "configuration").config;
    result.expected_us = device.relative_times ? 0 : static_cast<float>(time_us);
    result.verify_again = device.soft_difference || environment.soft_difference ||
                          status == WinnerStatus::kVerifyAgain;
    result.problem = read_problem(row);
    if (const auto reason = space_.violation(result.problem, result.config)) throw BadRow(*reason);
    ++load_.rows_used;
    sinks_.row(result);
  }

  void read_losses() {
    SQLite::Statement& query = c_.statement(
        "SELECT tuning_id, candidate_id, loss, placebo_noise, rounds FROM loss WHERE rounds > 0 "
        "LIMIT " +
        std::to_string(kMaxWinners));
    Cursor row(query);
    while (row.next()) {
      try {
        SnapshotLoss loss;
        loss.tuning_id = row.int64();
        loss.config = find(decoded_.candidates, row.int64(), "configuration").config;
        loss.loss = static_cast<float>(row.real());
        loss.placebo_noise = static_cast<float>(row.real());
        loss.rounds = row.int32();
        sinks_.loss(loss);
      } catch (const BadRow&) {
        // Not measured, as far as anyone can tell.
      }
    }
  }

  // A missing or undecodable row is as bad as a bad column.
  template <class Row>
  static const Row& find(const std::unordered_map<int64_t, Row>& rows,
                         int64_t id,
                         const char* what) {
    const auto found = rows.find(id);
    if (found == rows.end()) throw BadRow(std::string("its ") + what + " is missing");
    if (!found->second.unusable.empty()) throw BadRow(found->second.unusable);
    return found->second;
  }

  Connection& c_;
  const Space& space_;
  const Environment* environment_;
  const SnapshotSinks& sinks_;
  Decoded decoded_;
  std::unordered_set<int64_t> seen_;
  SnapshotLoad load_;
};

}  // namespace

bool soft_difference(const DeviceInfo& stored, const DeviceInfo& asker) {
  const auto size_differs = [](int64_t a, int64_t b) { return b != 0 && a != b; };
  return (!asker.name.empty() && stored.name != asker.name) ||
         size_differs(stored.memory_bytes, asker.memory_bytes) ||
         size_differs(stored.local_memory_bytes, asker.local_memory_bytes) ||
         stored.relative_times != asker.relative_times;
}

SnapshotLoad load_snapshot(const std::string& path,
                           const Space& space,
                           const SnapshotSinks& sinks,
                           const Environment* environment) {
  Connection connection(path, OpenMode::kReadOnly);
  require_schema(connection);
  SnapshotLoad load;
  read_rows(connection, [&] {
    if (!seal_holds(connection).value_or(true))
      connection.fail("is not what was shipped: restore it from where it came");
    load = Loader(connection, space, environment, sinks).load();
  });
  return load;
}

}  // namespace mla::db

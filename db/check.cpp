// SPDX-License-Identifier: MIT
// Store::check(): first SQLite's own checks, then every row is decoded as a reader would.
#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>

#include "db/content.h"
#include "db/rows.h"
#include "db/seal.h"
#include "db/store_impl.h"
#include "kernels/error.h"
#include "kernels/spaces.h"

namespace mla::db {
namespace {

// Findings of one kind that are listed one by one; a damaged file must not fill the memory.
constexpr int64_t kMaxFindings = 20;

class Checker {
 public:
  explicit Checker(Connection& connection) : c_(connection) {}

  std::vector<Store::CheckRow> run() {
    // A tree that SQLite finds broken is not walked any further.
    if (!integrity()) return std::move(rows_);
    foreign_keys();
    table("device", columns("x", fields(DeviceInfo{})), [](Cursor& row) { read_device(row); });
    table("environment", columns("x", fields(Environment{})), [](Cursor& row) {
      read_environment(row);
    });
    table("run", columns("x", fields(RunInfo{})), [](Cursor& row) { read_run(row); });
    table("problem", columns("x", fields(Problem{})), [](Cursor& row) { read_problem(row); });
    table("candidate", columns("x", fields(KernelConfig{})), [](Cursor& row) { read_config(row); });
    table("winner", columns("x", fields(WinnerRecord{})), [](Cursor& row) {
      WinnerRecord winner;
      read_winner(row, &winner);
    });
    losses();
    measurements();
    finished_tunings();
    knobs();
    seal();
    content();
    return std::move(rows_);
  }

 private:
  // Collects the findings of one check; adds a single ok row where there are none.
  class Group {
   public:
    Group(Checker* checker, std::string name) : checker_(checker), name_(std::move(name)) {}
    void found(const std::string& where, const std::string& detail) {
      if (++count_ > kMaxFindings) return;
      checker_->rows_.push_back({false, where.empty() ? name_ : name_ + " " + where, detail});
    }
    bool close(const std::string& ok_detail) {
      if (count_ == 0) checker_->rows_.push_back({true, name_, ok_detail});
      if (count_ > kMaxFindings) {
        checker_->rows_.push_back(
            {false, name_, std::to_string(count_ - kMaxFindings) + " more of this kind"});
      }
      return count_ == 0;
    }

   private:
    Checker* checker_;
    std::string name_;
    int64_t count_ = 0;
  };

  bool integrity() {
    Group group(this, "integrity");
    SQLite::Statement& query = c_.statement("PRAGMA integrity_check(20)");
    while (query.executeStep()) {
      const std::string text = query.getColumn(0).getString();
      if (text != "ok") group.found("", text.substr(0, 200));
    }
    return group.close("every page and index is sound");
  }

  void foreign_keys() {
    Group group(this, "foreign keys");
    SQLite::Statement& query = c_.statement("PRAGMA foreign_key_check");
    while (query.executeStep()) {
      group.found("",
                  query.getColumn(0).getString() + " row " + query.getColumn(1).getString() +
                      " points to a missing " + query.getColumn(2).getString());
    }
    group.close("every reference is there");
  }

  void table(const std::string& name,
             const std::string& column_list,
             const std::function<void(Cursor&)>& decode) {
    Group group(this, name);
    SQLite::Statement& query =
        c_.statement("SELECT x.rowid, " + column_list + " FROM " + name + " AS x");
    int64_t count = 0;
    Cursor row(query);
    while (row.next()) {
      ++count;
      const int64_t id = row.int64();
      try {
        decode(row);
      } catch (const BadRow& e) {
        group.found(std::to_string(id), e.what());
      }
    }
    group.close(std::to_string(count) + " rows");
  }

  void losses() {
    Group group(this, "loss");
    SQLite::Statement& query = c_.statement("SELECT x.tuning_id, " +
                                            columns("x", fields(LossRecord{})) + " FROM loss AS x");
    int64_t count = 0;
    Cursor row(query);
    while (row.next()) {
      ++count;
      const int64_t tuning_id = row.int64();
      try {
        LossRecord loss;
        read_loss(row, &loss);
      } catch (const BadRow& e) {
        group.found("of tuning " + std::to_string(tuning_id), e.what());
      }
    }
    group.close(std::to_string(count) + " rows");
  }

  // Rounds and samples by their distinct texts: there are millions of rows and a handful of texts.
  void measurements() {
    Group group(this, "measurements");
    const auto decode_all = [&](const char* sql, const std::function<void(Cursor&)>& decode) {
      SQLite::Statement& query = c_.statement(sql);
      Cursor row(query);
      while (row.next()) {
        try {
          decode(row);
        } catch (const BadRow& e) {
          group.found("", e.what());
        }
      }
    };
    decode_all("SELECT DISTINCT phase FROM round", [](Cursor& row) { read_phase(row); });
    decode_all("SELECT DISTINCT outcome FROM sample", [](Cursor& row) { read_outcome_kind(row); });
    decode_all("SELECT DISTINCT kind FROM outcome", [](Cursor& row) { read_outcome_kind(row); });
    SQLite::Statement& times = c_.statement(
        "SELECT count(*) FROM sample WHERE typeof(time_us) <> 'real' OR time_us < 0 OR time_us > "
        "1e15 "
        "OR (time_us = 0 AND outcome = 'ok')");
    times.executeStep();
    if (const int64_t bad = times.getColumn(0).getInt64(); bad > 0) {
      group.found("", std::to_string(bad) + " samples without a valid time");
    }
    group.close(std::to_string(c_.integer("SELECT count(*) FROM sample")) + " samples");
  }

  void finished_tunings() {
    Group group(this, "finished tunings");
    SQLite::Statement& query = c_.statement(
        "SELECT id FROM tuning WHERE finished = 1 AND id NOT IN (SELECT tuning_id FROM winner)");
    while (query.executeStep()) {
      group.found(query.getColumn(0).getString(), "has no winner");
    }
    group.close("each has a winner");
  }

  void seal() {
    const std::optional<bool> holds = seal_holds(c_);
    if (!holds) return;
    Group group(this, "file");
    if (!*holds) group.found("", "its bytes are not those that were shipped");
    group.close("its bytes are those that were written");
  }

  // A shipped file says what it holds; rows that were changed since are found here.
  void content() {
    const std::string stored = c_.text("SELECT value FROM meta WHERE key = 'content_sha256'");
    if (stored.empty()) return;
    Group group(this, "content");
    const std::string found = content_hash(c_);
    if (found != stored) group.found("", "is not what was shipped: " + stored + ", now " + found);
    group.close("is what was shipped: " + stored);
  }

  // What was measured and what would be answered has to be launchable on its device.
  void knobs() {
    Group group(this, "knobs");
    SQLite::Statement& query = c_.statement(
        "SELECT u.what, u.id, t.device_id, " + columns("p", fields(Problem{})) + ", " +
        columns("c", fields(KernelConfig{})) +
        " FROM (SELECT 'winner' AS what, id, tuning_id, config_id AS candidate_id FROM winner"
        " UNION SELECT 'winner', id, tuning_id, default_id FROM winner"
        " UNION SELECT 'winner', id, tuning_id, finalist_id FROM winner"
        " UNION SELECT 'tuning', r.tuning_id, r.tuning_id, s.candidate_id"
        "   FROM sample AS s JOIN round AS r ON r.id = s.round_id) AS u"
        " JOIN tuning AS t ON t.id = u.tuning_id JOIN problem AS p ON p.id = t.problem_id"
        " JOIN candidate AS c ON c.id = u.candidate_id ORDER BY t.device_id");
    int64_t count = 0;
    int64_t device_id = 0;  // rows come in this order, so that one space is held at a time
    std::optional<Space> space;
    Cursor row(query);
    while (row.next()) {
      ++count;
      std::string where = "of ";
      where.append(row.text()).append(" ").append(std::to_string(row.int64()));
      if (const int64_t id = row.int64(); id != device_id) {
        device_id = id;
        space = device_space(id);
      }
      if (!space) continue;  // reported with the devices
      try {
        const Problem problem = read_problem(row);
        const KernelConfig config = read_config(row);
        const auto reason = space->violation(problem, config);
        if (reason) group.found(where, *reason + ": " + to_text(config));
      } catch (const BadRow& e) {
        group.found(where, e.what());
      }
    }
    group.close(std::to_string(count) + " configurations are legal on their devices");
  }

  std::optional<Space> device_space(int64_t id) {
    SQLite::Statement& query = c_.statement("SELECT " + columns("d", fields(DeviceInfo{})) +
                                            " FROM device AS d WHERE d.id = ?");
    query.bind(1, id);
    try {
      Cursor row(query);
      if (!row.next()) return std::nullopt;
      return make_space(read_device(row));
    } catch (const BadRow&) {
      return std::nullopt;
    }
  }

  Connection& c_;
  std::vector<Store::CheckRow> rows_;
};

}  // namespace

std::vector<Store::CheckRow> Store::check() const {
  std::vector<CheckRow> rows;
  try {
    read_rows(impl_->connection, [&] { rows = Checker(impl_->connection).run(); });
  } catch (const Error& e) {
    rows.push_back({false, "integrity", e.what()});
  }
  return rows;
}

}  // namespace mla::db

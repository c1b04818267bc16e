// SPDX-License-Identifier: MIT
#include "db/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "db/content.h"
#include "db/pool.h"
#include "db/schema.h"
#include "db/ship.h"
#include "db/store_impl.h"
#include "kernels/error.h"

namespace mla::db {
namespace {

namespace fs = std::filesystem;

// In the protocol of a tuning whose key was taken by another one's evidence: whose it is.
constexpr const char* kMerged = " merged=";

std::string column_list(const Fields& row) {
  std::string list;
  for (const Field& field : row)
    list += (list.empty() ? "\"" : ", \"") + std::string(field.column) + "\"";
  return list;
}

// A copy of the source that is attached in its place: attaching could write to a file in log mode.
class SourceCopy {
 public:
  SourceCopy(const std::string& source, const std::string& target)
      : path_(target + "." + std::to_string(getpid()) + ".merge") {
    remove_database(path_);
    Connection c(source, OpenMode::kReadOnly);
    require_schema(c);
    c.read([&] { require_own_schema_only(c); });
    c.outside_transaction([&] {
      SQLite::Statement& vacuum = c.statement("VACUUM INTO ?1");
      vacuum.bind(1, path_);
      vacuum.exec();
    });
    for (const Store::CheckRow& row : Store::open(path_, OpenMode::kReadOnly).check()) {
      if (!row.ok) c.fail("is damaged (" + row.check + ": " + row.detail + "), nothing is merged");
    }
  }
  ~SourceCopy() { remove_database(path_); }
  SourceCopy(const SourceCopy&) = delete;
  SourceCopy& operator=(const SourceCopy&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Inside one write, with the source attached as `source`. Once a connection: its temporary tables
// end with it.
class Merger {
 public:
  explicit Merger(Connection& connection) : c_(connection), candidates_(connection) {}

  Merged run() {
    source_id_ = c_.text("SELECT value FROM source.meta WHERE key = 'database_id'");
    newest_before_ = c_.integer("SELECT coalesce(max(id), 0) FROM main.winner");
    newest_tuning_before_ = c_.integer("SELECT coalesce(max(id), 0) FROM main.tuning");
    map_rows("device", fields(DeviceInfo{}));
    map_rows("environment", fields(Environment{}));
    map_rows("run", fields(RunInfo{}));
    map_rows("problem", fields(Problem{}));
    map_rows("candidate", fields(KernelConfig{}));
    for (const char* map : {"tuning_map", "known_map"}) {
      c_.execute(std::string("CREATE TEMP TABLE ") + map +
                 " (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)");
    }
    for (const int64_t tuning : ids("SELECT id FROM source.tuning ORDER BY id")) add(tuning);
    copy_evidence();
    reconcile();
    return merged_;
  }

 private:
  std::vector<int64_t> ids(const std::string& sql) {
    std::vector<int64_t> list;
    SQLite::Statement& query = c_.statement(sql);
    while (query.executeStep()) list.push_back(query.getColumn(0).getInt64());
    return list;
  }

  // Rows that are equal in every column are one row; temp.TABLE_map says which.
  void map_rows(const std::string& table, const Fields& like) {
    const std::string columns = column_list(like);
    c_.execute("INSERT INTO main." + table + " (" + columns + ") SELECT " + columns +
               " FROM source." + table + " EXCEPT SELECT " + columns + " FROM main." + table + ";" +
               "CREATE TEMP TABLE " + table + "_map AS SELECT s.id AS old, min(m.id) AS new" +
               " FROM source." + table + " AS s JOIN main." + table + " AS m USING (" + columns +
               ") GROUP BY s.id;" + "CREATE UNIQUE INDEX temp." + table + "_map_old ON " + table +
               "_map (old)");
  }

  void add(int64_t old) {
    SQLite::Statement& query = c_.statement(
        "SELECT d.new, e.new, p.new, t.protocol, t.seed, r.new, t.finished FROM source.tuning AS t"
        " JOIN device_map AS d ON d.old = t.device_id"
        " JOIN environment_map AS e ON e.old = t.environment_id"
        " JOIN problem_map AS p ON p.old = t.problem_id"
        " JOIN run_map AS r ON r.old = t.run_id WHERE t.id = ?");
    query.bind(1, old);
    if (!query.executeStep()) c_.fail("cannot be merged into: a row of the source is lost");
    const auto integer = [&](int column) { return query.getColumn(column).getInt64(); };
    const std::string protocol = query.getColumn(3).getString();
    Fields key = {{"device_id", integer(0)},
                  {"environment_id", integer(1)},
                  {"problem_id", integer(2)},
                  {"protocol", protocol},
                  {"seed", integer(4)}};
    const int64_t run_id = integer(5), finished = integer(6);
    const std::string measured = protocol.substr(0, protocol.find(kMerged));
    key[3].value = measured;
    for (const int64_t held : same_work(key)) {
      if (!shares_evidence(held, old)) continue;
      ++merged_.tunings_known;
      return remember("known_map", old, held);
    }
    // The same key with other evidence is another piece of work.
    key[3].value = protocol;
    for (int copy = 1; taken(key); ++copy)
      key[3].value = measured + kMerged + source_id_ + "/" + std::to_string(copy);
    const int64_t id = find_or_begin_tuning(c_, key, run_id).id;
    remember("tuning_map", old, id);
    c_.execute("UPDATE main.tuning SET finished = " + std::to_string(finished) +
               " WHERE id = " + std::to_string(id));
    ++merged_.tunings_added;
  }

  void remember(const std::string& map, int64_t old, int64_t id) {
    c_.execute("INSERT INTO temp." + map + " VALUES (" + std::to_string(old) + ", " +
               std::to_string(id) + ")");
  }

  // Tunings that the target had before, of this key or merged into it under a name of their own.
  std::vector<int64_t> same_work(const Fields& key) {
    SQLite::Statement& query = c_.statement(
        "SELECT id FROM main.tuning WHERE device_id = ?1 AND environment_id = ?2 AND"
        " problem_id = ?3 AND (protocol = ?4 OR instr(protocol, ?4 || ?6) = 1) AND seed = ?5 AND"
        " id <= ?7");
    bind_fields(query, key);
    query.bind(6, kMerged);
    query.bind(7, newest_tuning_before_);
    std::vector<int64_t> list;
    while (query.executeStep()) list.push_back(query.getColumn(0).getInt64());
    return list;
  }

  bool taken(const Fields& key) {
    SQLite::Statement& query = c_.statement(
        "SELECT 1 FROM main.tuning WHERE device_id = ? AND environment_id = ? AND problem_id = ?"
        " AND protocol = ? AND seed = ?");
    bind_fields(query, key);
    return query.executeStep();
  }

  // Whether a tuning of the target is one of the source, with pooled answers and crossings since in
  // either.
  bool shares_evidence(int64_t target, int64_t source) {
    const std::vector<std::string> held = winners("main", target);
    const std::vector<std::string> brought = winners("source", source);
    return rounds("main", target) == rounds("source", source) &&
           (brought.empty() ||
            std::find_first_of(held.begin(), held.end(), brought.begin(), brought.end()) !=
                held.end());
  }

  // The text of a winner row, equal for equal answers.
  static std::string answer(const std::string& row) {
    std::string columns;
    for (const char* column :
         {"gain", "p_value", "expected_us", "rounds", "wins", "verdict", "status"})
      columns += ", " + row + "." + column;
    return "printf('%.17g %.17g %.17g %d %d %s %s'" + columns + ")";
  }

  // Equal for equal rounds and times of a search and its final.
  std::string rounds(const std::string& schema, int64_t tuning_id) {
    const std::string of = schema + ".";
    SQLite::Statement& query = c_.statement(
        "SELECT count(*) || printf(' %.17g', total(s.time_us)) FROM " + of + "sample AS s JOIN " +
        of + "round AS r ON r.id = s.round_id WHERE r.tuning_id = ? AND r.phase <> 'cross'");
    query.bind(1, tuning_id);
    query.executeStep();
    return query.getColumn(0).getString();
  }

  // One text a winner.
  std::vector<std::string> winners(const std::string& schema, int64_t tuning_id) {
    SQLite::Statement& query = c_.statement("SELECT " + answer("w") + " FROM " + schema +
                                            ".winner AS w WHERE tuning_id = ?");
    query.bind(1, tuning_id);
    std::vector<std::string> texts;
    while (query.executeStep()) texts.push_back(query.getColumn(0).getString());
    return texts;
  }

  // Of the tunings in tuning_map. Winners in the order of the source, so that its current ones stay
  // the newest of theirs.
  void copy_evidence() {
    const std::string winner = column_list(fields(WinnerRecord{}));
    const std::string loss = column_list(fields(LossRecord{}));
    c_.execute(
        "INSERT INTO main.round (tuning_id, phase, rung, round, attempt)"
        " SELECT t.new, r.phase, r.rung, r.round, r.attempt FROM source.round AS r"
        " JOIN tuning_map AS t ON t.old = r.tuning_id ORDER BY r.id;"
        "INSERT INTO main.sample (round_id, leg, candidate_id, position, role, time_us, outcome)"
        " SELECT m.id, s.leg, c.new, s.position, s.role, s.time_us, s.outcome"
        " FROM source.sample AS s JOIN source.round AS r ON r.id = s.round_id"
        " JOIN tuning_map AS t ON t.old = r.tuning_id"
        " JOIN main.round AS m ON m.tuning_id = t.new AND m.phase = r.phase AND"
        "  m.attempt = r.attempt AND m.rung = r.rung AND m.round = r.round"
        " JOIN candidate_map AS c ON c.old = s.candidate_id;"
        "INSERT INTO main.outcome (tuning_id, candidate_id, kind, text, crashes)"
        " SELECT t.new, c.new, o.kind, o.text, o.crashes FROM source.outcome AS o"
        " JOIN tuning_map AS t ON t.old = o.tuning_id"
        " JOIN candidate_map AS c ON c.old = o.candidate_id");
    // A known tuning may have met more of its neighbours' winners in the source.
    c_.execute("INSERT INTO main.loss (tuning_id, candidate_id, " + loss +
               ") SELECT t.new, c.new, " + loss +
               " FROM source.loss AS l JOIN (SELECT * FROM tuning_map UNION ALL"
               " SELECT * FROM known_map) AS t ON t.old = l.tuning_id"
               " JOIN candidate_map AS c ON c.old = l.candidate_id"
               " WHERE true ON CONFLICT (tuning_id, candidate_id) DO NOTHING");
    // Nor need the target have every answer of one.
    c_.execute("INSERT INTO main.winner (tuning_id, config_id, default_id, finalist_id, " + winner +
               ") SELECT t.new, c.new, d.new, f.new, " + winner +
               " FROM (SELECT *, row_number() OVER (PARTITION BY tuning_id, " + answer("s") +
               " ORDER BY id) AS copy FROM source.winner AS s) AS w"
               " JOIN (SELECT * FROM tuning_map UNION ALL"
               " SELECT * FROM known_map) AS t ON t.old = w.tuning_id"
               " JOIN candidate_map AS c ON c.old = w.config_id"
               " JOIN candidate_map AS d ON d.old = w.default_id"
               " JOIN candidate_map AS f ON f.old = w.finalist_id"
               " WHERE w.copy > (SELECT count(*) FROM main.winner AS m WHERE m.tuning_id = t.new"
               "  AND " +
               answer("m") + " = " + answer("w") + ") ORDER BY w.id");
  }

  // Shapes whose answer of before was overtaken by one of the source.
  void reconcile() {
    struct Pair {
      int64_t before, added, tuning_id;
      bool apart;  // measured apart in one environment: rounds may be added
    };
    std::vector<Pair> pairs;
    // Where the source has the answer of before as well, its own already counts that.
    SQLite::Statement& query = c_.statement(
        "SELECT a.id, b.id, a.tuning_id, ta.environment_id = tb.environment_id AND NOT EXISTS"
        "  (SELECT 1 FROM known_map AS k JOIN main.tuning AS t ON t.id = k.new"
        "   JOIN main.device AS d ON d.id = t.device_id"
        "   WHERE d.hard_key = shape.hard_key AND t.problem_id = shape.problem_id) FROM"
        " (SELECT d.hard_key, t.problem_id, max(CASE WHEN w.id <= ?1 THEN w.id END) AS before,"
        "   max(w.id) AS added FROM main.winner AS w JOIN main.tuning AS t ON t.id = w.tuning_id"
        "   JOIN main.device AS d ON d.id = t.device_id GROUP BY d.hard_key, t.problem_id) AS shape"
        " JOIN main.winner AS a ON a.id = shape.before JOIN main.winner AS b ON b.id = shape.added"
        " JOIN main.tuning AS ta ON ta.id = a.tuning_id"
        " JOIN main.tuning AS tb ON tb.id = b.tuning_id WHERE shape.added > ?1 AND NOT EXISTS"
        "  (SELECT 1 FROM known_map AS k JOIN source.winner AS w ON w.tuning_id = k.old"
        "   WHERE k.new = a.tuning_id AND " +
        answer("w") + " = " + answer("a") + ")");
    query.bind(1, newest_before_);
    while (query.executeStep()) {
      pairs.push_back({query.getColumn(0).getInt64(),
                       query.getColumn(1).getInt64(),
                       query.getColumn(2).getInt64(),
                       query.getColumn(3).getInt() != 0});
    }
    for (const Pair& pair : pairs) {
      const WinnerRecord before = load_winner_row(c_, pair.before);
      const WinnerRecord added = load_winner_row(c_, pair.added);
      settle(before, added, pair.tuning_id, pair.apart);
    }
  }

  void settle(WinnerRecord before, const WinnerRecord& added, int64_t tuning_id, bool apart) {
    const auto pooled = apart ? pool(before, added) : std::nullopt;
    if (pooled) {
      ++merged_.pooled;
      make_current(*pooled, tuning_id);
    } else if (before.config == added.config && before.status == added.status) {
      ++merged_.agreed;
      if (before.rounds >= added.rounds) make_current(before, tuning_id);
    } else {
      ++merged_.disagree;
      if (before.status == WinnerStatus::kActive) before.status = WinnerStatus::kVerifyAgain;
      make_current(before, tuning_id);
    }
  }

  void make_current(const WinnerRecord& winner, int64_t tuning_id) {
    insert(c_, "winner", winner_row(winner, tuning_id, &candidates_));
  }

  Connection& c_;
  CandidateIds candidates_;
  std::string source_id_;
  int64_t newest_before_ = 0, newest_tuning_before_ = 0;
  Merged merged_;
};

void note_parent(Connection& c) {
  c.execute(
      "INSERT INTO main.meta (key, value) SELECT 'parents', value FROM source.meta"
      " WHERE key = 'database_id'"
      " ON CONFLICT (key) DO UPDATE SET value = value || ' ' || excluded.value"
      " WHERE instr(value, excluded.value) = 0");
}

}  // namespace

Merged merge(const std::string& source, const std::string& target) {
  std::error_code error;
  if (fs::equivalent(source, target, error)) {
    throw Error(ErrorCode::kDatabase, source + ": is the target itself: name the others");
  }
  Connection c(target, OpenMode::kReadWrite);
  prepare_for_writing(c);
  const SourceCopy copy(source, target);
  c.outside_transaction([&] {
    SQLite::Statement& attach = c.statement("ATTACH ?1 AS source");
    attach.bind(1, copy.path());
    attach.exec();
  });
  Merged merged;
  c.write([&] {
    merged = Merger(c).run();
    note_parent(c);
  });
  return merged;
}

}  // namespace mla::db

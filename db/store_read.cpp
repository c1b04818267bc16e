// SPDX-License-Identifier: MIT
// The reading half of Store.
#include <SQLiteCpp/SQLiteCpp.h>

#include "db/rows.h"
#include "db/store_impl.h"

namespace mla::db {
namespace {

// A winner row joined with everything that it points to: w, t, r, d, e, p and the configurations c,
// f, g.
std::string winner_columns() {
  return columns("p", fields(Problem{})) + ", " + columns("c", fields(KernelConfig{})) + ", " +
         columns("f", fields(KernelConfig{})) + ", " + columns("g", fields(KernelConfig{})) + ", " +
         columns("w", fields(WinnerRecord{}));
}

constexpr char kWinnerJoin[] =
    " FROM winner AS w JOIN tuning AS t ON t.id = w.tuning_id"
    " JOIN problem AS p ON p.id = t.problem_id"
    " JOIN candidate AS c ON c.id = w.config_id"
    " JOIN candidate AS f ON f.id = w.default_id"
    " JOIN candidate AS g ON g.id = w.finalist_id";

WinnerRecord read_joined_winner(Cursor& row) {
  WinnerRecord winner;
  winner.problem = read_problem(row);
  winner.config = read_config(row);
  winner.default_config = read_config(row);
  winner.finalist = read_config(row);
  read_winner(row, &winner);
  return winner;
}

std::vector<SampleRecord> read_samples(Connection& c, int64_t round_id) {
  static const std::string kQuery = "SELECT s.position, s.role, s.time_us, s.outcome, " +
                                    columns("c", fields(KernelConfig{})) +
                                    " FROM sample AS s JOIN candidate AS c ON c.id = s.candidate_id"
                                    " WHERE s.round_id = ? ORDER BY s.leg";
  SQLite::Statement& query = c.statement(kQuery);
  query.bind(1, round_id);
  std::vector<SampleRecord> samples;
  Cursor row(query);
  while (row.next()) {
    SampleRecord& sample = samples.emplace_back();
    sample.position = row.int32();
    sample.role = row.text();
    sample.time_us = row.real();
    sample.outcome = read_outcome_kind(row);
    sample.config = read_config(row);
  }
  return samples;
}

}  // namespace

std::vector<RoundRecord> Store::load_rounds(int64_t tuning_id) const {
  Connection& c = impl_->connection;
  std::vector<RoundRecord> rounds;
  read_rows(c, [&] {
    SQLite::Statement& query = c.statement(
        "SELECT id, phase, rung, round, attempt FROM round WHERE tuning_id = ? ORDER BY id");
    query.bind(1, tuning_id);
    Cursor row(query);
    while (row.next()) {
      const int64_t id = row.int64();
      RoundRecord& round = rounds.emplace_back();
      round.phase = read_phase(row);
      round.rung = row.int32();
      round.round = row.int32();
      round.attempt = row.int32();
      round.samples = read_samples(c, id);
    }
  });
  return rounds;
}

std::vector<OutcomeRecord> Store::load_outcomes(int64_t tuning_id) const {
  Connection& c = impl_->connection;
  std::vector<OutcomeRecord> outcomes;
  read_rows(c, [&] {
    SQLite::Statement& query =
        c.statement("SELECT o.kind, o.text, o.crashes, " + columns("c", fields(KernelConfig{})) +
                    " FROM outcome AS o JOIN candidate AS c ON c.id = o.candidate_id"
                    " WHERE o.tuning_id = ? ORDER BY o.candidate_id");
    query.bind(1, tuning_id);
    Cursor row(query);
    while (row.next()) {
      OutcomeRecord& record = outcomes.emplace_back();
      record.outcome.kind = read_outcome_kind(row);
      record.outcome.text = row.text();
      record.crashes = row.int32();
      record.config = read_config(row);
    }
  });
  return outcomes;
}

WinnerRecord load_winner_row(Connection& c, int64_t winner_id) {
  SQLite::Statement& query =
      c.statement("SELECT " + winner_columns() + kWinnerJoin + " WHERE w.id = ?");
  query.bind(1, winner_id);
  Cursor row(query);
  if (!row.next()) c.fail("holds no winner " + std::to_string(winner_id));
  return read_joined_winner(row);
}

std::optional<WinnerRecord> Store::load_winner(int64_t tuning_id) const {
  Connection& c = impl_->connection;
  std::optional<WinnerRecord> winner;
  read_rows(c, [&] {
    SQLite::Statement& query = c.statement("SELECT " + winner_columns() + kWinnerJoin +
                                           " WHERE w.tuning_id = ? ORDER BY w.id DESC LIMIT 1");
    query.bind(1, tuning_id);
    Cursor row(query);
    if (!row.next()) return;
    winner = read_joined_winner(row);
  });
  return winner;
}

std::vector<LossRecord> Store::load_losses(int64_t tuning_id) const {
  Connection& c = impl_->connection;
  std::vector<LossRecord> losses;
  read_rows(c, [&] {
    SQLite::Statement& query =
        c.statement("SELECT " + columns("c", fields(KernelConfig{})) + ", " +
                    columns("l", fields(LossRecord{})) +
                    " FROM loss AS l JOIN candidate AS c ON c.id = l.candidate_id"
                    " WHERE l.tuning_id = ? ORDER BY l.candidate_id");
    query.bind(1, tuning_id);
    Cursor row(query);
    while (row.next()) {
      LossRecord& loss = losses.emplace_back();
      loss.config = read_config(row);
      read_loss(row, &loss);
    }
  });
  return losses;
}

std::vector<TuningSummary> Store::summaries() const {
  Connection& c = impl_->connection;
  std::vector<TuningSummary> summaries;
  read_rows(c, [&] {
    SQLite::Statement& query = c.statement(
        "SELECT w.id, t.id, t.protocol, t.seed, " + columns("d", fields(DeviceInfo{})) + ", " +
        columns("e", fields(Environment{})) + ", " + columns("r", fields(RunInfo{})) + ", " +
        winner_columns() + kWinnerJoin +
        " JOIN device AS d ON d.id = t.device_id"
        " JOIN environment AS e ON e.id = t.environment_id"
        " JOIN run AS r ON r.id = t.run_id"
        " WHERE w.id IN (SELECT max(w2.id) FROM winner AS w2"
        "   JOIN tuning AS t2 ON t2.id = w2.tuning_id JOIN device AS d2 ON d2.id = t2.device_id"
        "   GROUP BY d2.hard_key, t2.problem_id)"
        " ORDER BY d.hard_key, p.nhead, p.batch, p.seq_len, w.id");
    Cursor row(query);
    while (row.next()) {
      TuningSummary& summary = summaries.emplace_back();
      summary.winner_id = row.int64();
      summary.tuning_id = row.int64();
      summary.protocol = row.text();
      summary.seed = static_cast<uint64_t>(row.int64());
      summary.device = read_device(row);
      summary.environment = read_environment(row);
      summary.run = read_run(row);
      summary.winner = read_joined_winner(row);
    }
  });
  return summaries;
}

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// The writing half of Store: each function is one transaction.
#include <SQLiteCpp/SQLiteCpp.h>

#include "db/store_impl.h"
#include "kernels/error.h"

namespace mla::db {
namespace {

// The row is named in words where SQLite would only name a constraint.
void require_tuning(Connection& c, int64_t tuning_id) {
  SQLite::Statement& query = c.statement("SELECT 1 FROM tuning WHERE id = ?");
  query.bind(1, tuning_id);
  if (!query.executeStep()) c.fail("holds no tuning " + std::to_string(tuning_id));
}

Fields round_fields(int64_t tuning_id, const RoundRecord& round) {
  return {{"tuning_id", tuning_id},
          {"phase", std::string(name(round.phase))},
          {"rung", int64_t{round.rung}},
          {"round", int64_t{round.round}},
          {"attempt", int64_t{round.attempt}}};
}

void require_new_round(Connection& c, int64_t tuning_id, const RoundRecord& round) {
  SQLite::Statement& query = c.statement(
      "SELECT 1 FROM round WHERE tuning_id = ? AND phase = ? AND attempt = ? AND rung = ? AND "
      "round = ?");
  query.bind(1, tuning_id);
  query.bind(2, std::string(name(round.phase)));
  query.bind(3, round.attempt);
  query.bind(4, round.rung);
  query.bind(5, round.round);
  if (!query.executeStep()) return;
  c.fail("already holds " + std::string(name(round.phase)) + " round " +
         std::to_string(round.round) + " of tuning " + std::to_string(tuning_id) +
         ": does another process tune the same shape into it?");
}

}  // namespace

int64_t Store::begin_run(const RunInfo& run) {
  Connection& c = impl_->connection;
  int64_t id = 0;
  impl_->write([&] { id = insert(c, "run", fields(run)); });
  return id;
}

TuningState find_or_begin_tuning(Connection& c, Fields key, int64_t run_id) {
  SQLite::Statement& query = c.statement(
      "SELECT id, finished FROM tuning WHERE device_id = ? AND environment_id = ? AND "
      "problem_id = ? AND protocol = ? AND seed = ?");
  bind_fields(query, key);
  if (query.executeStep()) {
    return {query.getColumn(0).getInt64(), query.getColumn(1).getInt() != 0};
  }
  key.push_back({"run_id", run_id});
  return {insert(c, "tuning", key), false};
}

TuningState Store::open_tuning(int64_t run_id, const TuningKey& key) {
  Connection& c = impl_->connection;
  if (key.protocol.size() > kMaxTextBytes) {  // cut, it would not tell two protocols apart
    throw Error(ErrorCode::kInternal,
                "a protocol text of " + std::to_string(key.protocol.size()) + " bytes");
  }
  TuningState state;
  impl_->write([&] {
    state = find_or_begin_tuning(
        c,
        {{"device_id", find_or_insert(c, "device", fields(key.device))},
         {"environment_id", find_or_insert(c, "environment", fields(key.environment))},
         {"problem_id", find_or_insert(c, "problem", fields(key.problem))},
         {"protocol", key.protocol},
         {"seed", seed_bits(key.seed)}},
        run_id);
  });
  return state;
}

void Store::save_round(int64_t tuning_id, const RoundRecord& round) {
  Connection& c = impl_->connection;
  impl_->write([&] {
    require_tuning(c, tuning_id);
    require_new_round(c, tuning_id, round);
    const int64_t round_id = insert(c, "round", round_fields(tuning_id, round));
    SQLite::Statement& insert_sample = c.statement(
        "INSERT INTO sample (round_id, leg, candidate_id, position, role, time_us, outcome) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)");
    int64_t leg = 0;
    for (const SampleRecord& sample : round.samples) {
      insert_sample.reset();
      insert_sample.bind(1, round_id);
      insert_sample.bind(2, leg++);
      insert_sample.bind(3, impl_->candidates.id(sample.config));
      insert_sample.bind(4, sample.position);
      insert_sample.bind(5, sample.role);
      insert_sample.bind(6, sample.time_us);
      insert_sample.bind(7, std::string(name(sample.outcome)));
      insert_sample.exec();
    }
  });
}

void Store::save_outcome(int64_t tuning_id, const OutcomeRecord& record) {
  Connection& c = impl_->connection;
  impl_->write([&] {
    require_tuning(c, tuning_id);
    SQLite::Statement& upsert = c.statement(
        "INSERT INTO outcome (tuning_id, candidate_id, kind, text, crashes) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (tuning_id, candidate_id) DO UPDATE SET kind = excluded.kind, "
        "text = excluded.text, crashes = excluded.crashes");
    bind_fields(upsert,
                {{"tuning_id", tuning_id},
                 {"candidate_id", impl_->candidates.id(record.config)},
                 {"kind", std::string(name(record.outcome.kind))},
                 {"text", record.outcome.text.substr(0, kMaxTextBytes)},
                 {"crashes", int64_t{record.crashes}}});
    upsert.exec();
  });
}

void Store::save_losses(int64_t tuning_id, const std::vector<LossRecord>& losses) {
  Connection& c = impl_->connection;
  impl_->write([&] {
    require_tuning(c, tuning_id);
    for (const LossRecord& loss : losses) {
      const int64_t candidate_id = impl_->candidates.id(loss.config);
      SQLite::Statement& older =
          c.statement("DELETE FROM loss WHERE tuning_id = ? AND candidate_id = ?");
      older.bind(1, tuning_id);
      older.bind(2, candidate_id);
      older.exec();
      Fields row = fields(loss);
      row.push_back({"tuning_id", tuning_id});
      row.push_back({"candidate_id", candidate_id});
      insert(c, "loss", row);
    }
  });
}

void Store::finish_tuning(int64_t tuning_id, const WinnerRecord& winner) {
  Connection& c = impl_->connection;
  impl_->write([&] {
    require_tuning(c, tuning_id);
    insert(c, "winner", winner_row(winner, tuning_id, &impl_->candidates));
    SQLite::Statement& finish = c.statement("UPDATE tuning SET finished = 1 WHERE id = ?");
    finish.bind(1, tuning_id);
    finish.exec();
  });
}

}  // namespace mla::db

// SPDX-License-Identifier: MIT
#include "db/fields.h"

#include <SQLiteCpp/SQLiteCpp.h>

namespace mla::db {
namespace {

std::string cut(std::string_view text) {
  return std::string(text.substr(0, kMaxTextBytes));
}

}  // namespace

Fields fields(const DeviceInfo& d) {
  return {{"name", cut(d.name)},
          {"arch", cut(d.arch)},
          {"partition", cut(d.partition)},
          {"pci_id", cut(d.pci_id)},
          {"compute_units", int64_t{d.compute_units}},
          {"xcds", int64_t{d.xcds}},
          {"group_rows", int64_t{d.group_rows}},
          {"memory_bytes", d.memory_bytes},
          {"local_memory_bytes", d.local_memory_bytes},
          {"last_level_cache_bytes", d.last_level_cache_bytes},
          {"relative_times", int64_t{d.relative_times}},
          {"hard_key", cut(device_key(d))}};
}

Fields fields(const Environment& e) {
  return {{"driver", cut(e.driver)},
          {"runtime", cut(e.runtime)},
          {"compiler", cut(e.compiler)},
          {"code_hash", cut(e.code_hash)},
          {"tool_version", cut(e.tool_version)}};
}

Fields fields(const RunInfo& r) {
  return {{"started_utc", cut(r.started_utc)},
          {"host", cut(r.host)},
          {"command_line", cut(r.command_line)},
          {"seed", seed_bits(r.seed)},
          {"free_memory_bytes", r.free_memory_bytes}};
}

Fields fields(const Problem& p) {
  return {{"batch", int64_t{p.batch}},
          {"nhead", int64_t{p.nhead}},
          {"seq_len", p.seq_len},
          {"q_len", int64_t{p.q_len}},
          {"kv_dtype", std::string(name(p.kv_dtype))},
          {"page_size", int64_t{p.page_size}},
          {"shared_prefix", p.shared_prefix},
          {"share_group", int64_t{p.share_group}},
          {"imbalance", int64_t{p.imbalance}},
          {"pool", std::string(name(p.pool))}};
}

Fields fields(const KernelConfig& config) {
  Fields row;
  row.reserve(1 + kKnobCount);
  row.push_back({"variant", std::string(kVariantBh16)});
  for (const Knob knob : kKnobs) {
    const int32_t value = get(config, knob);
    row.push_back(
        {name(knob), is_named(knob) ? Value(value_text(knob, value)) : Value(int64_t{value})});
  }
  return row;
}

Fields fields(const WinnerRecord& w) {
  return {{"verdict", std::string(name(w.verdict))},
          {"reference", cut(w.reference)},
          {"gain", w.gain},
          {"gain_low", w.gain_low},
          {"gain_high", w.gain_high},
          {"finalist_gain", w.finalist_gain},
          {"drained_gain", w.drained_gain},
          {"rounds", int64_t{w.rounds}},
          {"wins", int64_t{w.wins}},
          {"losses", int64_t{w.losses}},
          {"p_value", w.p_value},
          {"placebo_noise", w.placebo_noise},
          {"default_us", w.default_us},
          {"expected_us", w.expected_us},
          {"workspace_bytes", w.workspace_bytes},
          {"capture_checked", int64_t{w.capture_checked}},
          {"status", std::string(name(w.status))},
          {"configs_measured", w.configs_measured},
          {"configs_pruned", w.configs_pruned},
          {"configs_failed", w.configs_failed}};
}

Fields fields(const LossRecord& l) {
  return {{"loss", l.loss},
          {"loss_low", l.loss_low},
          {"loss_high", l.loss_high},
          {"rounds", int64_t{l.rounds}},
          {"wins", int64_t{l.wins}},
          {"losses", int64_t{l.losses}},
          {"placebo_noise", l.placebo_noise}};
}

void bind_fields(SQLite::Statement& statement, const Fields& row) {
  int index = 0;
  for (const Field& field : row) {
    ++index;
    std::visit([&](const auto& value) { statement.bind(index, value); }, field.value);
  }
}

void TableWriter::compose(const Fields& row) {
  std::string names, places, where;
  const char* comma = "";
  const char* conjunction = "";
  for (const Field& field : row) {
    names.append(comma).append("\"").append(field.column).append("\"");
    places.append(comma).append("?");
    where.append(conjunction).append("\"").append(field.column).append("\" = ?");
    comma = ", ";
    conjunction = " AND ";
  }
  insert_sql_.append("INSERT INTO ").append(table_).append(" (").append(names);
  insert_sql_.append(") VALUES (").append(places).append(")");
  find_sql_.append("SELECT id FROM ").append(table_).append(" WHERE ").append(where);
}

int64_t TableWriter::insert(const Fields& row) {
  if (insert_sql_.empty()) compose(row);
  SQLite::Statement& statement = connection_.statement(insert_sql_);
  bind_fields(statement, row);
  statement.exec();
  return connection_.last_id();
}

int64_t TableWriter::find_or_insert(const Fields& row) {
  if (find_sql_.empty()) compose(row);
  SQLite::Statement& query = connection_.statement(find_sql_);
  bind_fields(query, row);
  return query.executeStep() ? query.getColumn(0).getInt64() : insert(row);
}

int64_t insert(Connection& c, std::string_view table, const Fields& row) {
  return TableWriter(c, table).insert(row);
}

int64_t find_or_insert(Connection& c, std::string_view table, const Fields& row) {
  return TableWriter(c, table).find_or_insert(row);
}

int64_t CandidateIds::id(const KernelConfig& config) {
  const auto known = ids_.find(config);
  if (known != ids_.end()) return known->second;
  const int64_t id = candidates_.find_or_insert(fields(config));
  ids_.emplace(config, id);
  return id;
}

Fields winner_row(const WinnerRecord& winner, int64_t tuning_id, CandidateIds* candidates) {
  Fields row = fields(winner);
  row.push_back({"tuning_id", tuning_id});
  row.push_back({"config_id", candidates->id(winner.config)});
  row.push_back({"default_id", candidates->id(winner.default_config)});
  row.push_back({"finalist_id", candidates->id(winner.finalist)});
  return row;
}

std::string columns(std::string_view alias, const Fields& row) {
  std::string result;
  for (const Field& field : row) {
    result.append(result.empty() ? "" : ", ").append(alias);
    result.append(".\"").append(field.column).append("\"");
  }
  return result;
}

}  // namespace mla::db

// SPDX-License-Identifier: MIT
#include "db/rows.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::db {
namespace {

// Of compute units, XCDs and rows of a group; far above any device, far below an overflow.
constexpr int32_t kMaxUnits = 1 << 20;

std::string cut(std::string_view text) {
  return std::string(text.substr(0, kMaxTextBytes));
}

bool is_named(Knob knob) {
  return knob == Knob::kWait || knob == Knob::kOrder;
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

void bind_fields(SQLite::Statement& statement, const Fields& row) {
  int index = 0;
  for (const Field& field : row) {
    ++index;
    std::visit([&](const auto& value) { statement.bind(index, value); }, field.value);
  }
}

int64_t insert(Connection& c, std::string_view table, const Fields& row) {
  std::string names, places;
  for (const Field& field : row) {
    if (!names.empty()) names += ", ", places += ", ";
    names.append("\"").append(field.column).append("\"");
    places += "?";
  }
  SQLite::Statement& statement =
      c.statement("INSERT INTO " + std::string(table) + " (" + names + ") VALUES (" + places + ")");
  bind_fields(statement, row);
  statement.exec();
  return c.last_id();
}

int64_t find_or_insert(Connection& c, std::string_view table, const Fields& row) {
  std::string where;
  for (const Field& field : row) {
    where.append(where.empty() ? "\"" : " AND \"").append(field.column).append("\" = ?");
  }
  SQLite::Statement& query =
      c.statement("SELECT id FROM " + std::string(table) + " WHERE " + where);
  bind_fields(query, row);
  if (query.executeStep()) return query.getColumn(0).getInt64();
  return insert(c, table, row);
}

std::string columns(std::string_view alias, const Fields& row) {
  std::string result;
  for (const Field& field : row) {
    result.append(result.empty() ? "" : ", ").append(alias);
    result.append(".\"").append(field.column).append("\"");
  }
  return result;
}

void read_rows(Connection& c, const std::function<void()>& body) {
  c.read([&] {
    try {
      body();
    } catch (const BadRow& e) {
      c.fail(std::string("holds a damaged row: ") + e.what() + " (see `mla-tune db check`)");
    }
  });
}

void Cursor::bad(const std::string& why) {
  throw BadRow("column " + mla::quoted(row_.getColumnName(next_)) + " " + why);
}

void Cursor::unknown_name(const std::string& stored) {
  --next_;
  bad("holds the unknown name " + mla::quoted(stored));
}

int64_t Cursor::int64() {
  const SQLite::Column column = row_.getColumn(next_);
  if (!column.isInteger()) bad("is not an integer");
  ++next_;
  return column.getInt64();
}

int32_t Cursor::int32() {
  const int64_t value = int64();
  if (value == static_cast<int32_t>(value)) return static_cast<int32_t>(value);
  --next_;
  bad("is out of range: " + std::to_string(value));
}

bool Cursor::boolean() {
  const int64_t value = int64();
  if (value == 0 || value == 1) return value == 1;
  --next_;
  bad("is neither 0 nor 1");
}

double Cursor::real() {
  const SQLite::Column column = row_.getColumn(next_);
  if (!column.isFloat()) bad("is not a number");
  if (!std::isfinite(column.getDouble())) bad("is not finite");
  ++next_;
  return column.getDouble();
}

std::string Cursor::text() {
  const SQLite::Column column = row_.getColumn(next_);
  if (!column.isText()) bad("is not a text");
  if (column.getBytes() > static_cast<int>(kMaxTextBytes)) bad("is longer than any text of ours");
  ++next_;
  return column.getString();
}

DeviceInfo read_device(Cursor& row) {
  DeviceInfo d;
  d.name = row.text();
  d.arch = row.text();
  d.partition = row.text();
  d.pci_id = row.text();
  d.compute_units = row.int32();
  d.xcds = row.int32();
  d.group_rows = row.int32();
  d.memory_bytes = row.int64();
  d.local_memory_bytes = row.int64();
  d.last_level_cache_bytes = row.int64();
  d.relative_times = row.boolean();
  for (const int32_t count : {d.compute_units, d.xcds, d.group_rows}) {
    if (count < 1 || count > kMaxUnits) throw BadRow("no device has such counts of units");
  }
  if (row.text() != device_key(d)) throw BadRow("column 'hard_key' does not fit the device");
  return d;
}

Environment read_environment(Cursor& row) {
  Environment e;
  e.driver = row.text();
  e.runtime = row.text();
  e.compiler = row.text();
  e.code_hash = row.text();
  e.tool_version = row.text();
  return e;
}

RunInfo read_run(Cursor& row) {
  RunInfo r;
  r.started_utc = row.text();
  r.host = row.text();
  r.command_line = row.text();
  r.seed = static_cast<uint64_t>(row.int64());
  r.free_memory_bytes = row.int64();
  return r;
}

Problem read_problem(Cursor& row) {
  Problem p;
  p.batch = row.int32();
  p.nhead = row.int32();
  p.seq_len = row.int64();
  p.q_len = row.int32();
  p.kv_dtype = row.one_of({KvDtype::kBf16, KvDtype::kFp8});
  p.page_size = row.int32();
  p.shared_prefix = row.int64();
  p.share_group = row.int32();
  p.imbalance = row.int32();
  p.pool = row.one_of({PoolClass::kSmall, PoolClass::kLarge});
  try {
    validate(p);
  } catch (const Error& e) {
    throw BadRow(e.what());
  }
  if (p.seq_len == 0) throw BadRow("seq_len: unknown in a tuned problem");
  return p;
}

KernelConfig read_config(Cursor& row) {
  const std::string variant = row.text();
  if (variant != kVariantBh16) throw BadRow("unknown variant " + mla::quoted(variant));
  KernelConfig config;
  for (const Knob knob : kKnobs) {
    if (knob == Knob::kWait) {
      config.wait = row.one_of({Wait::kDrain, Wait::kPartial});
    } else if (knob == Knob::kOrder) {
      config.order = row.one_of({Order::kBatchMajor, Order::kSplitMajor});
    } else {
      set(&config, knob, row.int32());
    }
  }
  return config;
}

void read_winner(Cursor& row, WinnerRecord* w) {
  w->verdict = read_verdict(row);
  w->reference = row.text();
  w->gain = row.real();
  w->gain_low = row.real();
  w->gain_high = row.real();
  w->finalist_gain = row.real();
  w->drained_gain = row.real();
  w->rounds = row.int32();
  w->wins = row.int32();
  w->losses = row.int32();
  w->p_value = row.real();
  w->placebo_noise = row.real();
  w->default_us = row.real();
  w->expected_us = row.real();
  w->workspace_bytes = row.int64();
  w->capture_checked = row.boolean();
  w->status = read_status(row);
  w->configs_measured = row.int64();
  w->configs_pruned = row.int64();
  w->configs_failed = row.int64();
}

Verdict read_verdict(Cursor& row) {
  return row.one_of({Verdict::kFaster,
                     Verdict::kDefaultBest,
                     Verdict::kUndecided,
                     Verdict::kSlower,
                     Verdict::kFailed});
}

WinnerStatus read_status(Cursor& row) {
  return row.one_of({WinnerStatus::kActive, WinnerStatus::kDemoted, WinnerStatus::kVerifyAgain});
}

Phase read_phase(Cursor& row) {
  return row.one_of({Phase::kSearch, Phase::kSemifinal, Phase::kFinal});
}

OutcomeKind read_outcome_kind(Cursor& row) {
  const std::string stored = row.text();
  OutcomeKind kind{};
  if (!parse_outcome_kind(stored, &kind)) throw BadRow("unknown outcome " + mla::quoted(stored));
  return kind;
}

}  // namespace mla::db

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

}  // namespace

void read_rows(Connection& c, const std::function<void()>& body) {
  c.read([&] {
    try {
      body();
    } catch (const BadRow& e) {
      c.fail(std::string("holds a damaged row: ") + e.what() + " (see `mla-tune db check`)");
    }
  });
}

Cursor::Cursor(SQLite::Statement& query) : query_(query) {}
Cursor::~Cursor() = default;

bool Cursor::next() {
  next_ = 0;
  if (!query_.executeStep()) return false;
  // Made once a query: it costs more than reading the value.
  while (static_cast<int>(columns_.size()) < query_.getColumnCount()) {
    columns_.push_back(query_.getColumn(static_cast<int>(columns_.size())));
  }
  return true;
}

const SQLite::Column& Cursor::column() const {
  return columns_.at(next_);
}

void Cursor::bad(const std::string& why) const {
  throw BadRow("column " + in_quotes(column().getName()) + " " + why);
}

void Cursor::unknown_name(std::string_view stored) {
  --next_;
  bad("holds the unknown name " + in_quotes(stored));
}

int64_t Cursor::int64() {
  const SQLite::Column& value = column();
  if (!value.isInteger()) bad("is not an integer");
  ++next_;
  return value.getInt64();
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
  const SQLite::Column& value = column();
  if (!value.isFloat()) bad("is not a number");
  const double number = value.getDouble();
  if (!std::isfinite(number)) bad("is not finite");
  ++next_;
  return number;
}

std::string_view Cursor::text() {
  const SQLite::Column& value = column();
  if (!value.isText()) bad("is not a text");
  const char* const bytes = value.getText();
  const auto size = static_cast<size_t>(value.getBytes());
  if (size > kMaxTextBytes) bad("is longer than any text of ours");
  ++next_;
  return {bytes, size};
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
  return p;
}

KernelConfig read_config(Cursor& row) {
  const std::string_view variant = row.text();
  if (variant != kVariantBh16) throw BadRow("unknown variant " + in_quotes(variant));
  KernelConfig config;
  for (const Knob knob : kKnobs) {
    if (knob == Knob::kWait) {
      config.wait = row.one_of({Wait::kDrain, Wait::kPartial});
    } else if (knob == Knob::kOrder) {
      config.order = row.one_of({Order::kBatchMajor, Order::kSplitMajor});
    } else if (knob == Knob::kSchedule) {
      config.schedule = row.one_of({Schedule::kUniform, Schedule::kPersistent});
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

void read_loss(Cursor& row, LossRecord* loss) {
  loss->loss = row.real();
  loss->loss_low = row.real();
  loss->loss_high = row.real();
  loss->rounds = row.int32();
  loss->wins = row.int32();
  loss->losses = row.int32();
  loss->placebo_noise = row.real();
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
  return row.one_of({Phase::kSearch, Phase::kSemifinal, Phase::kFinal, Phase::kCross});
}

OutcomeKind read_outcome_kind(Cursor& row) {
  const std::string_view stored = row.text();
  OutcomeKind kind{};
  if (!parse_outcome_kind(stored, &kind)) throw BadRow("unknown outcome " + in_quotes(stored));
  return kind;
}

}  // namespace mla::db

// SPDX-License-Identifier: MIT
#include "tools/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/default_policy.h"
#include "tools/results.h"
#include "tuner/robust.h"

namespace mla::tools {
namespace {

// Part of the protocol text that tells these rows from tuned ones.
constexpr const char* kProtocol = "verify-1";

// The roles of record.h by the places of compare(): default, winner, placebo.
constexpr std::array<const char*, 3> kRoles = {
    tuner::kDefaultRole, tuner::kCandidateRole, tuner::kPlaceboRole};

std::vector<db::RoundRecord> rounds_of(const Comparison& comparison) {
  std::vector<db::RoundRecord> rounds;
  const size_t count = comparison.legs.size();
  for (size_t i = 0; i < comparison.legs.front().times_us.size(); ++i) {
    db::RoundRecord& round = rounds.emplace_back();
    round.phase = db::Phase::kFinal;
    round.round = static_cast<int32_t>(i);
    for (size_t leg = 0; leg < count; ++leg) {
      const CompareLeg& from = comparison.legs[leg];
      const double time_us = from.times_us[i];
      // Legs rotate by one a round.
      const auto position = static_cast<int32_t>((leg + count - i % count) % count);
      round.samples.push_back({from.config,
                               position,
                               kRoles.at(leg),
                               time_us,
                               time_us > 0 ? OutcomeKind::kOk : from.outcome.kind});
    }
  }
  return rounds;
}

db::WinnerRecord record_of(const VerifiedWinner& verified, const Space& space) {
  const db::WinnerRecord& stored = verified.stored.summary.winner;
  db::WinnerRecord record;
  record.problem = stored.problem;
  record.default_config = policy::DefaultPolicy(space)(stored.problem);
  record.config = record.finalist = stored.config;
  record.verdict = db::Verdict::kFaster;
  const bool lost = verified.state == VerifyState::kLost;
  record.status = lost ? db::WinnerStatus::kDemoted : db::WinnerStatus::kActive;
  record.capture_checked = stored.capture_checked;
  if (verified.comparison.legs.empty()) {  // not legal here: a row of it would not be sound
    record.config = record.finalist = record.default_config;
    return record;
  }
  const CompareLeg& leg = verified.comparison.legs[1];
  record.gain = record.finalist_gain = leg.decision.gain;
  record.gain_low = leg.decision.gain_low;
  record.gain_high = leg.decision.gain_high;
  record.rounds = leg.decision.rounds;
  record.wins = leg.decision.wins;
  record.losses = leg.decision.losses;
  record.p_value = leg.decision.p_value;
  record.placebo_noise = verified.comparison.placebo_noise;
  record.default_us = verified.comparison.legs[0].time_us;
  record.expected_us = leg.time_us;
  record.workspace_bytes = space.use(stored.problem, stored.config).workspace_bytes;
  return record;
}

bool measured(const Comparison& comparison) {
  return !comparison.legs.empty() && comparison.legs[0].outcome.ok() &&
         comparison.legs[1].outcome.ok();
}

}  // namespace

std::string_view name(VerifyState state) {
  switch (state) {
    case VerifyState::kHeld:
      return "held";
    case VerifyState::kLost:
      return "lost";
    case VerifyState::kAmbiguous:
      return "ambiguous";
    case VerifyState::kUnmeasured:
      break;
  }
  return "unmeasured";
}

bool keep(const VerifiedWinner& verified,
          const tuner::CandidateSource& source,
          db::Store* store,
          int64_t run_id) {
  const bool renewed = verified.state == VerifyState::kHeld && verified.stored.stale &&
                       !verified.comparison.legs.empty();
  if (verified.state != VerifyState::kLost && !renewed) return false;
  const db::WinnerRecord record = record_of(verified, source.space());
  db::TuningKey key;
  key.device = source.info();
  key.environment = source.environment();
  key.problem = record.problem;
  key.protocol = fmt::format("{} run={}", kProtocol, run_id);
  if (record.problem.seq_len == 0) {
    key.protocol += tuner::plan_protocol(tuner::plan_lengths(verified.stored.summary.protocol));
  }
  const int64_t tuning_id = store->open_tuning(run_id, key).id;
  if (!verified.comparison.legs.empty()) {
    for (const db::RoundRecord& round : rounds_of(verified.comparison)) {
      store->save_round(tuning_id, round);
    }
  }
  store->finish_tuning(tuning_id, record);
  return true;
}

std::string verify_text(const std::vector<VerifiedWinner>& winners, const Terminal& terminal) {
  Table table;
  table.column("shape");
  table.column("gain then", Table::Align::kRight);
  table.column("gain now");
  table.column("won/lost/rounds");
  table.column("row");
  table.column("state");
  for (const VerifiedWinner& verified : winners) {
    const db::WinnerRecord& winner = verified.stored.summary.winner;
    std::string gain = "-", counts = "-";
    if (measured(verified.comparison)) {
      const tuner::GuardDecision& d = verified.comparison.legs[1].decision;
      gain = interval_text(d.gain, d.gain_low, d.gain_high);
      counts = fmt::format("{}/{}/{}", d.wins, d.losses, d.rounds);
    }
    const Style style = verified.state == VerifyState::kHeld   ? Style::kGood
                        : verified.state == VerifyState::kLost ? Style::kBad
                                                               : Style::kWarn;
    table.row(
        {to_text(winner.problem),
         percent_text(winner.gain),
         gain,
         counts,
         std::string(verified.stored.stale ? "stale" : "current") +
             (verified.stored.impossible ? ", impossible by the model" : ""),
         fmt::format(
             "{}{}{}", name(verified.state), verified.text.empty() ? "" : ": ", verified.text)},
        style);
  }
  return table.text(terminal);
}

}  // namespace mla::tools

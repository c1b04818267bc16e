// SPDX-License-Identifier: MIT
// Which winners there are, and how one is timed.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "db/snapshot.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"
#include "policy/selection.h"
#include "tools/verify.h"
#include "tuner/prior.h"
#include "tuner/robust.h"

namespace mla::tools {
namespace {

using Rows = std::unordered_map<Problem, StoredWinner>;

Rows read_rows(const std::vector<std::string>& databases,
               const DeviceInfo& device,
               const db::Environment& environment) {
  Rows rows;
  for (const std::string& path : databases) {
    const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
    for (db::TuningSummary& summary : store.summaries()) {
      if (device_key(summary.device) != device_key(device)) continue;
      const bool stale = summary.environment != environment ||
                         db::soft_difference(summary.device, device) ||
                         summary.winner.status == db::WinnerStatus::kVerifyAgain;
      const Problem problem = summary.winner.problem;
      rows.insert_or_assign(problem, StoredWinner{path, std::move(summary), stale});
    }
  }
  return rows;
}

void mark_impossible(const DeviceInfo& device, Rows* rows) {
  if (device.relative_times) return;
  const Space space = make_space(device);
  std::vector<tuner::Timing> timings;
  for (const auto& [problem, row] : *rows) {
    const db::WinnerRecord& winner = row.summary.winner;
    if (problem.seq_len == 0) continue;
    if (winner.default_us > 0) {
      timings.push_back({problem, winner.default_config, winner.default_us});
    }
    if (winner.expected_us > 0) timings.push_back({problem, winner.config, winner.expected_us});
  }
  const auto prior = tuner::Prior::fit(space, timings);
  if (!prior) return;
  for (auto& [problem, row] : *rows) {
    const db::WinnerRecord& winner = row.summary.winner;
    row.impossible = problem.seq_len > 0 && winner.expected_us > 0 &&
                     prior->calls_impossible(space, {problem, winner.config, winner.expected_us});
  }
}

bool answers(const db::WinnerRecord& winner) {
  return winner.verdict == db::Verdict::kFaster && winner.status != db::WinnerStatus::kDemoted;
}

VerifyState state_of(const Comparison& comparison) {
  const CompareLeg &reference = comparison.legs[0], &winner = comparison.legs[1];
  if (!reference.outcome.ok()) return VerifyState::kUnmeasured;
  if (!winner.outcome.ok()) return VerifyState::kLost;
  switch (winner.decision.state) {
    case tuner::GuardState::kAccepted:
      return VerifyState::kHeld;
    case tuner::GuardState::kSlower:
      return VerifyState::kLost;
    case tuner::GuardState::kUndecided:
      return winner.decision.gain > 0 ? VerifyState::kAmbiguous : VerifyState::kLost;
    case tuner::GuardState::kNeedMoreRounds:
      break;
  }
  if (!comparison.complete) return VerifyState::kUnmeasured;
  return winner.decision.gain > 0 ? VerifyState::kAmbiguous : VerifyState::kLost;
}

VerifiedWinner verify_at(tuner::CandidateSource& source,
                         const StoredWinner& stored,
                         const Problem& problem,
                         const CompareOptions& options,
                         const std::atomic<bool>& stop) {
  VerifiedWinner verified;
  verified.stored = stored;
  const KernelConfig config = stored.summary.winner.config;
  // A plan, at whatever length it is timed, against what is answered without a length.
  const KernelConfig default_config =
      policy::DefaultPolicy(source.space())(stored.summary.winner.problem);
  if (config == default_config) {
    verified.state = VerifyState::kHeld;
    verified.text = "is the default";
    return verified;
  }
  if (const auto violation = source.space().violation(problem, config)) {
    verified.state = VerifyState::kLost;
    verified.text = *violation;
    return verified;
  }
  verified.comparison = compare(source, problem, {default_config, config}, options, stop);
  verified.state = state_of(verified.comparison);
  for (const CompareLeg& leg : verified.comparison.legs) {
    if (!leg.outcome.ok() && verified.text.empty()) {
      verified.text = fmt::format("{}: {}", name(leg.outcome.kind), leg.outcome.text);
    }
  }
  return verified;
}

// A plan was chosen because it loses at no length, not because it wins at each.
VerifyState plan_state_at(const VerifiedWinner& at) {
  if (at.comparison.legs.empty() || at.state != VerifyState::kLost) return at.state;
  const CompareLeg& plan = at.comparison.legs[1];
  const bool slower = !plan.outcome.ok() || plan.decision.state == tuner::GuardState::kSlower ||
                      plan.decision.gain < -policy::kLossBound;
  return slower ? VerifyState::kLost : VerifyState::kAmbiguous;
}

double gain_of(const VerifiedWinner& at) {
  return at.comparison.legs.empty() ? 0 : at.comparison.legs[1].decision.gain;
}

VerifiedWinner verify_plan(tuner::CandidateSource& source,
                           const StoredWinner& stored,
                           const CompareOptions& options,
                           const std::atomic<bool>& stop) {
  VerifiedWinner worst;
  worst.stored = stored;
  worst.text = "the row does not name its lengths";
  bool first = true, held = false;
  for (const tuner::LengthShare& length : tuner::plan_lengths(stored.summary.protocol)) {
    Problem problem = stored.summary.winner.problem;
    problem.seq_len = length.seq_len;
    VerifiedWinner at = verify_at(source, stored, problem, options, stop);
    at.state = plan_state_at(at);
    at.text = fmt::format(
        "worst at seq_len={}{}{}", length.seq_len, at.text.empty() ? "" : ": ", at.text);
    if (at.state == VerifyState::kLost || at.state == VerifyState::kUnmeasured) return at;
    held = held || at.state == VerifyState::kHeld;
    if (first || gain_of(at) < gain_of(worst)) worst = std::move(at);
    first = false;
  }
  if (!first) worst.state = held ? VerifyState::kHeld : VerifyState::kAmbiguous;
  return worst;
}

}  // namespace

std::vector<StoredWinner> current_winners(const std::vector<std::string>& databases,
                                          const DeviceInfo& device,
                                          const db::Environment& environment) {
  Rows rows = read_rows(databases, device, environment);
  mark_impossible(device, &rows);
  std::vector<StoredWinner> winners;
  for (auto& [problem, row] : rows) {
    if (answers(row.summary.winner)) winners.push_back(std::move(row));
  }
  std::sort(winners.begin(), winners.end(), [](const StoredWinner& a, const StoredWinner& b) {
    const db::WinnerRecord &p = a.summary.winner, &q = b.summary.winner;
    if (p.expected_us != q.expected_us) return p.expected_us > q.expected_us;
    return to_text(p.problem) < to_text(q.problem);
  });
  return winners;
}

VerifiedWinner verify_winner(tuner::CandidateSource& source,
                             const StoredWinner& stored,
                             const CompareOptions& options,
                             const std::atomic<bool>& stop) {
  const Problem& problem = stored.summary.winner.problem;
  if (problem.seq_len == 0) return verify_plan(source, stored, options, stop);
  return verify_at(source, stored, problem, options, stop);
}

}  // namespace mla::tools

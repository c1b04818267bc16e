// SPDX-License-Identifier: MIT
#include "tuner/final.h"

#include <algorithm>
#include <cmath>

#include "kernels/error.h"
#include "tuner/stats.h"

namespace mla::tuner {
namespace {

double time_of(const db::RoundRecord& round, const std::string& role) {
  for (const db::SampleRecord& sample : round.samples)
    if (sample.role == role && sample.outcome == OutcomeKind::kOk) return sample.time_us;
  return 0;
}

std::vector<double> times_of(const std::vector<db::RoundRecord>& rounds, const std::string& role) {
  std::vector<double> times_us;
  for (const db::RoundRecord& round : rounds)
    if (const double time_us = time_of(round, role); time_us > 0) times_us.push_back(time_us);
  return times_us;
}

// role a's time / role b's time - 1, of the rounds that hold both.
std::vector<double> ratios(const std::vector<db::RoundRecord>& rounds,
                           const std::string& a,
                           const std::string& b) {
  std::vector<double> values;
  for (const db::RoundRecord& round : rounds) {
    const double a_us = time_of(round, a), b_us = time_of(round, b);
    if (a_us > 0 && b_us > 0) values.push_back(a_us / b_us - 1);
  }
  return values;
}

std::vector<PairedRound> pairs(const FinalPlan& plan, const std::vector<db::RoundRecord>& rounds) {
  std::vector<PairedRound> paired;
  for (const db::RoundRecord& round : rounds)
    paired.push_back({time_of(round, plan.reference.role), time_of(round, kCandidateRole)});
  return paired;
}

db::Verdict verdict_of(const GuardDecision& decision) {
  if (decision.state == GuardState::kAccepted) return db::Verdict::kFaster;
  if (decision.state == GuardState::kSlower) return db::Verdict::kSlower;
  return decision.gain <= 0 ? db::Verdict::kDefaultBest : db::Verdict::kUndecided;
}

double median_or_zero(std::vector<double> values) {
  return values.empty() ? 0 : median(std::move(values));
}

double placebo_noise(const FinalPlan& plan, const std::vector<db::RoundRecord>& rounds) {
  std::vector<double> noise = ratios(rounds, kPlaceboRole, plan.reference.role);
  for (double& value : noise) value = std::abs(value);
  return median_or_zero(std::move(noise));
}

}  // namespace

std::vector<Leg> final_legs(const FinalPlan& plan) {
  std::vector<Leg> legs;
  if (plan.finalist) legs.push_back({*plan.finalist, kCandidateRole});
  legs.push_back({plan.reference.config, plan.reference.role});
  legs.push_back({plan.reference.config, kPlaceboRole});
  if (plan.other && plan.other->config != plan.finalist)
    legs.push_back({plan.other->config, plan.other->role});
  return legs;
}

int usable_final_rounds(int final_rounds) {
  if (final_rounds < kLooks.front().rounds)
    throw Error(ErrorCode::kUsage,
                "final rounds: " + std::to_string(final_rounds) + " are too few, the guard needs " +
                    std::to_string(kLooks.front().rounds));
  int usable = 0;
  for (const Look& look : kLooks)
    if (look.rounds <= final_rounds) usable = look.rounds;
  return usable;
}

bool final_complete(const FinalPlan& plan, const std::vector<db::RoundRecord>& rounds) {
  const int count = static_cast<int>(rounds.size());
  if (count >= plan.rounds) return true;
  if (!plan.finalist) return count >= kLooks.front().rounds;
  const bool at_look =
      std::any_of(kLooks.begin(), kLooks.end(), [&](const Look& l) { return l.rounds == count; });
  return at_look && decide(pairs(plan, rounds)).state != GuardState::kNeedMoreRounds;
}

db::WinnerRecord judge(const FinalPlan& plan, const std::vector<db::RoundRecord>& all) {
  const int usable = usable_final_rounds(static_cast<int>(all.size()));
  const std::vector<db::RoundRecord> rounds(all.begin(), all.begin() + usable);
  db::WinnerRecord winner;
  winner.reference = plan.reference.role;
  winner.config = plan.reference.config;
  winner.finalist = plan.finalist.value_or(plan.reference.config);
  winner.rounds = usable;
  std::string winner_role = plan.reference.role;
  if (plan.finalist) {
    const GuardDecision decision = decide(pairs(plan, rounds));
    winner.verdict = verdict_of(decision);
    winner.wins = decision.wins;
    winner.losses = decision.losses;
    winner.p_value = decision.p_value;
    winner.finalist_gain = decision.gain;
    if (winner.verdict == db::Verdict::kFaster) {
      winner.config = *plan.finalist;
      winner.gain = decision.gain;
      winner.gain_low = decision.gain_low;
      winner.gain_high = decision.gain_high;
      winner_role = kCandidateRole;
    }
  }
  winner.drained_gain = median_or_zero(ratios(rounds, kDrainedRole, winner_role));
  winner.placebo_noise = placebo_noise(plan, rounds);
  winner.default_us = median_or_zero(times_of(rounds, plan.reference.role));
  winner.expected_us = median_or_zero(times_of(rounds, winner_role));
  return winner;
}

}  // namespace mla::tuner

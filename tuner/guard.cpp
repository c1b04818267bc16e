// SPDX-License-Identifier: MIT
#include "tuner/guard.h"

#include <cmath>
#include <string>

#include "kernels/error.h"
#include "tuner/stats.h"

namespace mla::tuner {
namespace {

bool usable(double time_us) {
  return std::isfinite(time_us) && time_us > 0;
}

// reference / finalist - 1 of every round.
std::vector<double> round_gains(const std::vector<PairedRound>& rounds) {
  std::vector<double> gains;
  gains.reserve(rounds.size());
  for (const PairedRound& round : rounds) {
    if (!usable(round.reference_us) || !usable(round.finalist_us))
      throw Error(ErrorCode::kInternal,
                  "guard: round " + std::to_string(gains.size()) + " holds a time that is no time");
    gains.push_back(round.reference_us / round.finalist_us - 1);
  }
  return gains;
}

// Whether `count` wins (or losses) after `rounds` can still reach the mark of a later look.
bool reachable(int count, int rounds) {
  for (const Look& look : kLooks)
    if (look.rounds > rounds && count + (look.rounds - rounds) >= look.needed) return true;
  return false;
}

void count_rounds(const std::vector<double>& gains,
                  int rounds,
                  double margin,
                  GuardDecision* decision) {
  decision->rounds = rounds;
  decision->wins = decision->losses = 0;
  for (int i = 0; i < rounds; ++i) {
    decision->wins += gains[i] > margin;
    decision->losses += gains[i] < -margin;
  }
}

GuardState state_at(const Look& look, const GuardDecision& counts) {
  if (counts.wins >= look.needed) return GuardState::kAccepted;
  if (counts.losses >= look.needed) return GuardState::kSlower;
  if (reachable(counts.wins, look.rounds) || reachable(counts.losses, look.rounds))
    return GuardState::kNeedMoreRounds;
  return GuardState::kUndecided;
}

}  // namespace

GuardDecision decide(const std::vector<PairedRound>& rounds, double margin) {
  const std::vector<double> gains = round_gains(rounds);
  GuardDecision decision;
  count_rounds(gains, static_cast<int>(gains.size()), margin, &decision);
  for (const Look& look : kLooks) {
    if (static_cast<int>(gains.size()) < look.rounds) break;
    GuardDecision at_look;
    count_rounds(gains, look.rounds, margin, &at_look);
    at_look.state = state_at(look, at_look);
    decision = at_look;
    if (decision.state != GuardState::kNeedMoreRounds) break;
  }
  const Quartiles spread = quartiles({gains.begin(), gains.begin() + decision.rounds});
  decision.gain = spread.median;
  decision.gain_low = spread.low;
  decision.gain_high = spread.high;
  const bool slower = decision.state == GuardState::kSlower;
  decision.p_value = sign_test_p(slower ? decision.losses : decision.wins, decision.rounds);
  return decision;
}

}  // namespace mla::tuner

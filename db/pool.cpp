// SPDX-License-Identifier: MIT
#include "db/pool.h"

#include <algorithm>
#include <cmath>

namespace mla::db {
namespace {

// That of the guard (its three looks share it); a pooled verdict is one further look at old rounds.
constexpr double kAlpha = 0.01;

bool adds_up(const WinnerRecord& a, const WinnerRecord& b) {
  return a.finalist == b.finalist && a.default_config == b.default_config &&
         a.reference == b.reference && a.rounds > 0 && b.rounds > 0 &&
         a.status == WinnerStatus::kActive && b.status == WinnerStatus::kActive &&
         a.verdict != Verdict::kFailed && b.verdict != Verdict::kFailed;
}

Verdict pooled_verdict(const WinnerRecord& a, const WinnerRecord& b, const WinnerRecord& sum) {
  if (sign_test(sum.rounds, sum.wins) <= kAlpha) return Verdict::kFaster;
  if (sign_test(sum.rounds, sum.losses) <= kAlpha) return Verdict::kSlower;
  return a.verdict == b.verdict && a.verdict != Verdict::kFaster ? a.verdict : Verdict::kUndecided;
}

}  // namespace

double sign_test(int rounds, int wins) {
  double tail = 0;
  for (int k = std::max(wins, 0); k <= rounds; ++k) {
    const double log_ways =
        std::lgamma(rounds + 1.0) - std::lgamma(k + 1.0) - std::lgamma(rounds - k + 1.0);
    tail += std::exp(log_ways - rounds * std::log(2.0));
  }
  return std::min(1.0, tail);
}

std::optional<WinnerRecord> pool(const WinnerRecord& a, const WinnerRecord& b) {
  if (!adds_up(a, b)) return std::nullopt;
  const double total = a.rounds + b.rounds;
  const auto mean = [&](double WinnerRecord::*field) {
    return (a.*field * a.rounds + b.*field * b.rounds) / total;
  };
  WinnerRecord sum = a;
  sum.rounds = a.rounds + b.rounds;
  sum.wins = a.wins + b.wins;
  sum.losses = a.losses + b.losses;
  sum.p_value = sign_test(sum.rounds, sum.wins);
  sum.verdict = pooled_verdict(a, b, sum);
  const bool wins = sum.verdict == Verdict::kFaster;
  sum.config = wins ? sum.finalist : sum.default_config;
  sum.finalist_gain = mean(&WinnerRecord::finalist_gain);
  sum.drained_gain = mean(&WinnerRecord::drained_gain);
  sum.default_us = mean(&WinnerRecord::default_us);
  sum.gain = wins ? sum.finalist_gain : 0;
  sum.gain_low = wins ? std::min(a.gain_low, b.gain_low) : 0;
  sum.gain_high = wins ? std::max(a.gain_high, b.gain_high) : 0;
  sum.expected_us = sum.default_us / (1 + sum.gain);
  sum.placebo_noise = std::max(a.placebo_noise, b.placebo_noise);
  sum.workspace_bytes = std::max(a.workspace_bytes, b.workspace_bytes);
  sum.capture_checked = a.capture_checked && b.capture_checked;
  sum.configs_measured = a.configs_measured + b.configs_measured;
  sum.configs_pruned = a.configs_pruned + b.configs_pruned;
  sum.configs_failed = a.configs_failed + b.configs_failed;
  return sum;
}

}  // namespace mla::db

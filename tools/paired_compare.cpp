// SPDX-License-Identifier: MIT
#include "tools/paired_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/term.h"
#include "tuner/stats.h"

namespace mla::tools {
namespace {

bool out_of_time(const CompareOptions& options, const std::atomic<bool>& stop) {
  return stop || tuner::Clock::now() >= options.deadline;
}

// False where there was no time for all.
bool admit_all(tuner::CandidateSource& source,
               const CompareOptions& options,
               const std::atomic<bool>& stop,
               std::vector<CompareLeg>* legs) {
  for (size_t i = 0; i < legs->size(); ++i) {
    if (out_of_time(options, stop)) return false;
    CompareLeg& leg = (*legs)[i];
    leg.outcome = leg.role == "placebo" ? legs->front().outcome : source.admit(leg.config, i == 0);
    if (i == 0 && !leg.outcome.ok()) break;
  }
  return true;
}

// One sample of every leg that still runs, in an order that rotates with the round. False where it
// was cut; such a round does not count.
bool measure_round(tuner::CandidateSource& source,
                   int round,
                   const CompareOptions& options,
                   const std::atomic<bool>& stop,
                   std::vector<CompareLeg>* legs) {
  const size_t count = legs->size();
  std::vector<double> sampled(count, 0);
  for (size_t position = 0; position < count; ++position) {
    if (out_of_time(options, stop)) return false;
    const size_t index = (position + static_cast<size_t>(round)) % count;
    CompareLeg& leg = (*legs)[index];
    if (!leg.outcome.ok()) continue;
    const TimedRun sample = source.sample(
        leg.config, {db::Phase::kFinal, options.rung, round, static_cast<int32_t>(position)});
    leg.outcome = sample.outcome;
    if (sample.outcome.ok()) sampled[index] = sample.time_us;
  }
  for (size_t i = 0; i < count; ++i) (*legs)[i].times_us.push_back(sampled[i]);
  return true;
}

std::vector<tuner::PairedRound> paired(const CompareLeg& reference, const CompareLeg& leg) {
  std::vector<tuner::PairedRound> rounds;
  const size_t count = std::min(reference.times_us.size(), leg.times_us.size());
  for (size_t i = 0; i < count; ++i) {
    const tuner::PairedRound round = {reference.times_us[i], leg.times_us[i]};
    if (round.reference_us > 0 && round.finalist_us > 0) rounds.push_back(round);
  }
  return rounds;
}

bool decided(const std::vector<CompareLeg>& legs) {
  for (const CompareLeg& leg : legs) {
    if (leg.role != "candidate" || !leg.outcome.ok()) continue;
    const auto state = tuner::decide(paired(legs.front(), leg)).state;
    if (state == tuner::GuardState::kNeedMoreRounds) return false;
  }
  return true;
}

void summarize(Comparison* result) {
  for (CompareLeg& leg : result->legs) {
    std::vector<double> measured = leg.times_us;
    std::erase(measured, 0.0);
    const tuner::Quartiles q = tuner::quartiles(measured);
    leg.time_us = q.median;
    leg.low_us = q.low;
    leg.high_us = q.high;
    leg.decision = tuner::decide(paired(result->legs.front(), leg));
    if (leg.role != "placebo") continue;
    std::vector<double> noise = round_gains(result->legs.front(), leg);
    for (double& value : noise) value = std::abs(value);
    result->placebo_noise = tuner::median(noise);
  }
}

}  // namespace

std::vector<double> round_gains(const CompareLeg& reference, const CompareLeg& leg) {
  std::vector<double> gains;
  for (const tuner::PairedRound& round : paired(reference, leg)) {
    gains.push_back(round.reference_us / round.finalist_us - 1);
  }
  return gains;
}

std::string verdict_text(tuner::GuardState state) {
  switch (state) {
    case tuner::GuardState::kAccepted:
      return "faster";
    case tuner::GuardState::kSlower:
      return "slower";
    case tuner::GuardState::kUndecided:
    case tuner::GuardState::kNeedMoreRounds:
      return "undecided";
  }
  return "undecided";
}

Comparison compare(tuner::CandidateSource& source,
                   const Problem& problem,
                   const std::vector<KernelConfig>& configs,
                   const CompareOptions& options,
                   const std::atomic<bool>& stop) {
  Comparison result;
  result.problem = problem;
  result.relative_times = source.info().relative_times;
  for (const KernelConfig& config : configs) {
    result.legs.push_back(
        {result.legs.empty() ? "reference" : "candidate", config, {}, {}, 0, 0, 0, {}});
  }
  result.legs.push_back({"placebo", configs.front(), {}, {}, 0, 0, 0, {}});
  if (const Outcome selected = source.select(problem, options.seed); !selected.ok()) {
    for (CompareLeg& leg : result.legs) leg.outcome = selected;
    result.complete = true;
    return result;
  }
  result.complete = admit_all(source, options, stop, &result.legs);
  for (int round = 0; result.complete && round < options.max_rounds; ++round) {
    if (!result.legs.front().outcome.ok()) break;
    result.complete = measure_round(source, round, options, stop, &result.legs);
    if (!result.complete) break;
    if (options.on_round) options.on_round(result);
    if (decided(result.legs)) break;
  }
  summarize(&result);
  return result;
}

std::string comparison_text(const Comparison& comparison, const Terminal& terminal) {
  Table table;
  table.column("role");
  table.column(comparison.relative_times ? "relative" : "time_us", Table::Align::kRight);
  table.column("gain");
  table.column("rounds", Table::Align::kRight);
  table.column("won/lost");
  table.column("verdict");
  table.column("config");
  for (const CompareLeg& leg : comparison.legs) {
    const tuner::GuardDecision& d = leg.decision;
    const bool judged = leg.role == "candidate" && leg.outcome.ok();
    table.row({leg.role,
               time_cell(leg.time_us, comparison.relative_times),
               judged ? interval_text(d.gain, d.gain_low, d.gain_high) : "",
               judged ? std::to_string(d.rounds) : "",
               judged ? fmt::format("{}/{}", d.wins, d.losses) : "",
               leg.outcome.ok() ? (judged ? verdict_text(d.state) : "")
                                : std::string(name(leg.outcome.kind)),
               to_text(leg.config)});
  }
  std::string text = to_text(comparison.problem) + "\n" + table.text(terminal);
  for (const CompareLeg& leg : comparison.legs) {
    if (leg.outcome.ok() || leg.role == "placebo") continue;
    text +=
        fmt::format("{}: {} ({})\n", name(leg.outcome.kind), leg.outcome.text, to_text(leg.config));
  }
  return text + fmt::format("placebo noise {:.2f}%\n", 100 * comparison.placebo_noise);
}

}  // namespace mla::tools

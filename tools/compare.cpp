// SPDX-License-Identifier: MIT
#include "tools/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/term.h"
#include "tuner/stats.h"

namespace mla::tools {
namespace {

using Times = std::vector<std::vector<double>>;  // [leg][round], 0 where the sample failed

void admit_all(tuner::CandidateSource& source, std::vector<CompareLeg>* legs) {
  for (size_t i = 0; i < legs->size(); ++i) {
    CompareLeg& leg = (*legs)[i];
    leg.outcome = leg.role == "placebo" ? legs->front().outcome : source.admit(leg.config, i == 0);
    if (i == 0 && !leg.outcome.ok()) return;
  }
}

// One sample of every leg that still runs, in an order that rotates with the round. False where
// `stop` cut the round, which then does not count.
bool measure_round(tuner::CandidateSource& source,
                   int round,
                   const std::atomic<bool>& stop,
                   std::vector<CompareLeg>* legs,
                   Times* times) {
  const size_t count = legs->size();
  std::vector<double> sampled(count, 0);
  for (size_t position = 0; position < count; ++position) {
    if (stop) return false;
    const size_t index = (position + static_cast<size_t>(round)) % count;
    CompareLeg& leg = (*legs)[index];
    if (!leg.outcome.ok()) continue;
    const tuner::Sample sample =
        source.sample(leg.config, {db::Phase::kFinal, 0, round, static_cast<int32_t>(position)});
    leg.outcome = sample.outcome;
    if (sample.outcome.ok()) sampled[index] = sample.time_us;
  }
  for (size_t i = 0; i < count; ++i) (*times)[i].push_back(sampled[i]);
  return true;
}

std::vector<tuner::PairedRound> paired(const std::vector<double>& reference,
                                       const std::vector<double>& other) {
  std::vector<tuner::PairedRound> rounds;
  for (size_t i = 0; i < reference.size(); ++i) {
    if (reference[i] > 0 && other[i] > 0) rounds.push_back({reference[i], other[i]});
  }
  return rounds;
}

bool decided(const std::vector<CompareLeg>& legs, const Times& times) {
  for (size_t i = 1; i < legs.size(); ++i) {
    if (legs[i].role != "candidate" || !legs[i].outcome.ok()) continue;
    const auto state = tuner::decide(paired(times[0], times[i])).state;
    if (state == tuner::GuardState::kNeedMoreRounds) return false;
  }
  return true;
}

void finish(const Times& times, Comparison* result) {
  for (size_t i = 0; i < result->legs.size(); ++i) {
    CompareLeg& leg = result->legs[i];
    std::vector<double> measured;
    std::copy_if(
        times[i].begin(), times[i].end(), std::back_inserter(measured), [](double time_us) {
          return time_us > 0;
        });
    const tuner::Quartiles q = tuner::quartiles(measured);
    leg.time_us = q.median;
    leg.low_us = q.low;
    leg.high_us = q.high;
    const std::vector<tuner::PairedRound> rounds = paired(times[0], times[i]);
    leg.decision = tuner::decide(rounds);
    if (leg.role != "placebo") continue;
    std::vector<double> noise;
    for (const auto& round : rounds) {
      noise.push_back(std::abs(round.reference_us / round.finalist_us - 1));
    }
    result->placebo_noise = tuner::median(noise);
  }
}

}  // namespace

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
                   int max_rounds,
                   uint64_t seed,
                   const std::atomic<bool>& stop) {
  Comparison result;
  result.problem = problem;
  result.relative_times = source.info().relative_times;
  for (size_t i = 0; i < configs.size(); ++i) {
    result.legs.push_back({i == 0 ? "reference" : "candidate", configs[i], {}, 0, 0, 0, {}});
  }
  result.legs.push_back({"placebo", configs.front(), {}, 0, 0, 0, {}});
  Times times(result.legs.size());
  if (const Outcome selected = source.select(problem, seed); !selected.ok()) {
    for (CompareLeg& leg : result.legs) leg.outcome = selected;
    return result;
  }
  admit_all(source, &result.legs);
  for (int round = 0; round < max_rounds && result.legs.front().outcome.ok() && !stop; ++round) {
    if (!measure_round(source, round, stop, &result.legs, &times)) break;
    if (decided(result.legs, times)) break;
  }
  finish(times, &result);
  return result;
}

std::string comparison_text(const Comparison& comparison) {
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
    const std::string gain = fmt::format(
        "{} ({:.2f}..{:.2f})", percent_text(d.gain), 100 * d.gain_low, 100 * d.gain_high);
    table.row({leg.role,
               time_cell(leg.time_us, comparison.relative_times),
               judged ? gain : "",
               judged ? std::to_string(d.rounds) : "",
               judged ? fmt::format("{}/{}", d.wins, d.losses) : "",
               leg.outcome.ok() ? (judged ? verdict_text(d.state) : "")
                                : std::string(name(leg.outcome.kind)),
               to_text(leg.config)});
  }
  std::string text = to_text(comparison.problem) + "\n" + table.text(Terminal{});
  for (const CompareLeg& leg : comparison.legs) {
    if (leg.outcome.ok() || leg.role == "placebo") continue;
    text +=
        fmt::format("{}: {} ({})\n", name(leg.outcome.kind), leg.outcome.text, to_text(leg.config));
  }
  return text + fmt::format("placebo noise {:.2f}%\n", 100 * comparison.placebo_noise);
}

}  // namespace mla::tools

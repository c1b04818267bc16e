// SPDX-License-Identifier: MIT
// Configurations against each other in interleaved rounds, judged by the guard's rule: what
// `bench --config` and every row of a sweep are made of.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "kernels/outcome.h"
#include "tools/term.h"
#include "tuner/guard.h"
#include "tuner/rounds.h"

namespace mla::tools {

struct CompareLeg {
  std::string role;  // "reference", "candidate" or "placebo" (the reference once more)
  KernelConfig config;
  Outcome outcome;
  std::vector<double> times_us;  // [round], 0 where the sample failed
  double time_us = 0;            // median; quartiles follow
  double low_us = 0;
  double high_us = 0;
  tuner::GuardDecision decision;  // against the reference; of no meaning for it
};

struct Comparison {
  Problem problem;
  bool relative_times = false;
  double placebo_noise = 0;      // median |reference / placebo - 1|
  std::vector<CompareLeg> legs;  // reference first
  bool complete = false;         // false where `stop` or the deadline ended it
};

struct CompareOptions {
  int max_rounds = tuner::kLooks.back().rounds;
  uint64_t seed = 1;
  int32_t rung = 0;  // simulated devices give another rung other samples
  tuner::Clock::time_point deadline = tuner::Clock::time_point::max();
  std::function<void(const Comparison&)> on_round;  // may be empty
};

// "faster", "slower", "undecided": the guard's words.
std::string verdict_text(tuner::GuardState state);

// reference / leg - 1 of every round that holds both.
std::vector<double> round_gains(const CompareLeg& reference, const CompareLeg& leg);

// configs.front() is the reference, the first to be checked. Runs until the guard has decided every
// leg, at most max_rounds; `stop` and the deadline end it with the rounds that are complete.
Comparison compare(tuner::CandidateSource& source,
                   const Problem& problem,
                   const std::vector<KernelConfig>& configs,
                   const CompareOptions& options,
                   const std::atomic<bool>& stop);

std::string comparison_text(const Comparison& comparison, const Terminal& terminal);
std::string comparison_json(const std::vector<Comparison>& comparisons);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// `bench --config`: configurations against each other in interleaved rounds, judged by the guard's
// rule.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "kernels/outcome.h"
#include "tuner/guard.h"
#include "tuner/source.h"

namespace mla::tools {

struct CompareLeg {
  std::string role;  // "reference", "candidate" or "placebo" (the reference once more)
  KernelConfig config;
  Outcome outcome;
  double time_us = 0;  // median; quartiles follow
  double low_us = 0;
  double high_us = 0;
  tuner::GuardDecision decision;  // against the reference; of no meaning for it
};

struct Comparison {
  Problem problem;
  bool relative_times = false;
  double placebo_noise = 0;      // median |reference / placebo - 1|
  std::vector<CompareLeg> legs;  // reference first
};

// "faster", "slower", "undecided": the guard's words.
std::string verdict_text(tuner::GuardState state);

// configs.front() is the reference, the first to be checked. Runs until the guard has decided every
// leg, at most `max_rounds`; `stop` ends it with what there is.
Comparison compare(tuner::CandidateSource& source,
                   const Problem& problem,
                   const std::vector<KernelConfig>& configs,
                   int max_rounds,
                   uint64_t seed,
                   const std::atomic<bool>& stop);

std::string comparison_text(const Comparison& comparison);
std::string comparison_json(const std::vector<Comparison>& comparisons);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// How good the policy's answers are at shapes that were not tuned: against an exhaustive search of
// the shape, and against the default. Regret is taken from fresh paired rounds of the fastest
// configurations and the answer, since the minimum of many noisy samples reads too fast.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/lookup.h"
#include "tools/paired_compare.h"
#include "tools/term.h"

namespace mla::tools {

inline constexpr size_t kExhaustiveConfigs = 2000;  // measured a shape at most
inline constexpr int kExhaustiveSamples = 3;        // of each, but for the hopeless
// A first sample this many times as slow as the fastest median so far is a configuration's last:
// two more would not bring it among those that are timed again, and slow ones take most of the
// time. (An interruption costs one of the many that are near the best.)
inline constexpr double kHopeless = 1.5;
inline constexpr size_t kRetimed = 8;  // fastest of them in paired rounds

struct EvaluatedShape {
  Problem problem;
  policy::Answer answer;
  KernelConfig default_config;
  KernelConfig best;     // fastest in the paired rounds
  int64_t configs = 0;   // of the exhaustive search
  double answer_us = 0;  // medians of the paired rounds
  double best_us = 0;
  double default_us = 0;
  double regret = 0;    // median within rounds of answer's time / best's time - 1; not below 0
  double gain = 0;      // the same of default's time / answer's time - 1
  double slower_p = 1;  // sign test that the answer is slower than the default
  std::string failure;  // why it has no figures, or empty
};

struct EvaluationSummary {
  int64_t shapes = 0;  // with figures
  int64_t failed = 0;
  int64_t slower = 0;  // than the default, at 0.01 / shapes
  int64_t by_source[policy::kSourceCount] = {};
  double median_regret = 0, p95_regret = 0, worst_regret = 0;
  double geomean_gain = 0;
};
EvaluationSummary summarize(const std::vector<EvaluatedShape>& shapes);

// Every problem that a database answers exactly for the device.
std::vector<Problem> tuned_problems(const std::vector<std::string>& databases,
                                    const DeviceInfo& device);

// `count` shapes drawn by the seed within the tuned range of batch and length of each kind of
// problem, evenly by logarithm, none of them tuned or drawn twice; fewer where there are no more.
std::vector<Problem> draw_held_out(const std::vector<Problem>& tuned, size_t count, uint64_t seed);

EvaluatedShape evaluate_shape(tuner::CandidateSource& source,
                              const policy::LookupTable& table,
                              const Problem& problem,
                              const CompareOptions& options,
                              const std::atomic<bool>& stop);

std::string evaluation_text(const std::vector<EvaluatedShape>& shapes,
                            bool relative_times,
                            const Terminal& terminal);
std::string evaluation_json(const std::vector<EvaluatedShape>& shapes, const DeviceInfo& device);

}  // namespace mla::tools

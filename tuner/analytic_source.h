// SPDX-License-Identifier: MIT
// A device that is a formula: known optimum, wave steps, merge costs, noise, drift and outliers.
// For tests of search and guard, and for trying the tool. Spec, after "analytic:" (all optional):
//   cus=256,xcds=8    the machine
//   noise=0.5%        relative deviation of one sample
//   drift=3%          warm-up: how much slower the first round is; decays over the rounds
//   outliers=5%       share of samples that read 20 % too fast
//   copies=N          N configurations beside the default, all of the default's time
//   faster=3%         with copies: one of them, chosen by the seed, is faster by this much
//   seed=N
// Times follow from (seed, problem, configuration, SampleId), never from the order of calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tuner/source.h"

namespace mla::tuner {

struct AnalyticOptions {
  int32_t compute_units = 256;
  int32_t xcds = 8;
  double noise = 0.005;
  double drift = 0;
  double outliers = 0;
  int32_t copies = 0;
  double faster = 0;
  uint64_t seed = 1;
};

class AnalyticSource : public CandidateSource {
 public:
  explicit AnalyticSource(const AnalyticOptions& options);

  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }
  db::Environment environment() const override;
  Space::Listing list(const Problem& problem) const override;
  Outcome select(const Problem& problem, uint64_t seed) override;
  Outcome admit(const KernelConfig& config, bool first) override;
  TimedRun sample(const KernelConfig& config, const SampleId& id) override;

  // Without noise, drift and outliers.
  double true_time_us(const Problem& problem, const KernelConfig& config) const;
  // The copy that is faster; nothing without `copies` and `faster`.
  std::optional<KernelConfig> faster_copy(const Problem& problem) const;

 private:
  double time_us_of(const Problem& problem,
                    const KernelConfig& config,
                    const std::optional<KernelConfig>& faster) const;

  AnalyticOptions options_;
  Space space_;
  Problem problem_;
  std::optional<KernelConfig> faster_;  // of problem_
};

// Throws Error(kUsage) naming the option.
std::unique_ptr<CandidateSource> open_analytic_source(const std::string& spec);

}  // namespace mla::tuner

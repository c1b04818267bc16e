// SPDX-License-Identifier: MIT
// What tests of whole sessions share: a short way to run one, and a source that misbehaves.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tuner/analytic_source.h"
#include "tuner/session.h"

namespace mla::tuner {

inline const std::atomic<bool> kNeverStop{false};

inline Problem seed_problem(int batch) {
  return parse_problem("batch=" + std::to_string(batch) + " nhead=12 seq_len=68000");
}

inline SessionResult tune(CandidateSource& source,
                          const std::vector<Problem>& problems,
                          const SessionOptions& options = {},
                          db::Store* store = nullptr) {
  return run_session(source, store, {}, problems, options, nullptr, kNeverStop);
}

// Eight configurations of one time, one of them 5 % faster.
inline AnalyticSource small_device() {
  AnalyticOptions options;
  options.copies = 8;
  options.faster = 0.05;
  return AnalyticSource(options);
}

// Passes everything on, but counts samples, raises `stop` at one of them, and fails or reads
// another time where it is told.
class FaultySource : public CandidateSource {
 public:
  explicit FaultySource(CandidateSource& inner) : inner_(inner) {}

  const DeviceInfo& info() const override { return inner_.info(); }
  const Space& space() const override { return inner_.space(); }
  db::Environment environment() const override { return inner_.environment(); }
  Space::Listing list(const Problem& problem) const override { return inner_.list(problem); }
  Outcome select(const Problem& problem, uint64_t seed) override {
    selected = problem;
    return inner_.select(problem, seed);
  }
  Outcome admit(const KernelConfig& config, bool first) override {
    ++admissions[config];
    const auto fault = in_admission.find(config);
    return fault == in_admission.end() ? inner_.admit(config, first)
                                       : Outcome{fault->second, "injected"};
  }
  TimedRun sample(const KernelConfig& config, const SampleId& id) override {
    if (++samples == stop_at) stop = true;
    const auto fault = in_sample.find(config);
    if (fault != in_sample.end()) return {{fault->second, "injected"}, 0};
    TimedRun sample = inner_.sample(config, id);
    if (distort) sample.time_us = distort(config, id, sample.time_us);
    return sample;
  }

  std::map<KernelConfig, OutcomeKind> in_admission, in_sample;
  std::function<double(const KernelConfig&, const SampleId&, double time_us)> distort;
  std::map<KernelConfig, int> admissions;
  Problem selected;
  std::atomic<bool> stop{false};
  int64_t samples = 0, stop_at = -1;

 private:
  CandidateSource& inner_;
};

// One configuration that is a fifth faster up to batch 8 and slower from 32 on, and one that is the
// other way round: winners of a grid that lose to each other.
inline std::vector<KernelConfig> make_disagree(FaultySource* source) {
  const KernelConfig few = parse_config("splits=4 tile_n=32 stages=3", source->space().neutral());
  KernelConfig many = few;
  many.stages = 4;
  source->distort = [source, few, many](const KernelConfig& config, const SampleId&, double) {
    const int batch = source->selected.batch;
    const double fewer = batch <= 8 ? 80 : batch >= 32 ? 120 : 100;
    return config.tile_n != few.tile_n ? 100 : config.stages == few.stages ? fewer : 200 - fewer;
  };
  return {few, many};
}

}  // namespace mla::tuner

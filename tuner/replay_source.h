// SPDX-License-Identifier: MIT
// Serves the times of a recorded sweep with seeded noise around them, so that search, guard and
// reports run with a GPU's figures where that GPU is not. Spec, after "replay:":
//   FILE[,noise=0.3%][,seed=N][,cus=N][,xcds=N]
// noise is the relative deviation of one sample: 0.3 % for a CSV file, the recorded spread for a
// database, unless given. cus and xcds are for a CSV file whose comments do not name its device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tuner/recording.h"
#include "tuner/source.h"

namespace mla::tuner {

inline constexpr double kReplayNoise = 0.003;

class ReplaySource : public CandidateSource {
 public:
  // noise: nothing for the recording's own spread, or kReplayNoise where it has none.
  ReplaySource(Recording recording, std::optional<double> noise, uint64_t seed);

  const DeviceInfo& info() const override { return recording_.device; }
  const Space& space() const override { return space_; }
  db::Environment environment() const override { return recording_.environment; }

  // The space's listing less what has no recorded time.
  Space::Listing list(const Problem& problem) const override;
  std::vector<Problem> recorded_problems() const override { return recording_.problems(); }
  Outcome select(const Problem& problem, uint64_t seed) override;
  // Where each split count of the file has its own unit, `first` chooses the split count whose
  // times the others are compared with.
  Outcome admit(const KernelConfig& config, bool first) override;
  TimedRun sample(const KernelConfig& config, const SampleId& id) override;

 private:
  Recording recording_;
  std::optional<double> noise_;
  uint64_t seed_;
  Space space_;
  Problem problem_;
  int32_t group_splits_ = 0;  // 0: none chosen
};

// Throws Error(kUsage) or Error(kDatabase) naming the option or file.
std::unique_ptr<CandidateSource> open_replay_source(const std::string& spec);

}  // namespace mla::tuner

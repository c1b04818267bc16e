// SPDX-License-Identifier: MIT
// Where the tuner's times come from: a device in this process, a device behind an isolated worker,
// a recording, or a formula. Search and guard see only this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/record.h"
#include "kernels/outcome.h"
#include "kernels/space.h"

namespace mla::tuner {

// Identifies one sample within a tuning. Simulated sources derive their noise from it (and not from
// the number of calls so far), so that an interrupted run resumes to the same times.
struct SampleId {
  db::Phase phase = db::Phase::kSearch;
  int32_t rung = 0;
  int32_t round = 0;
  int32_t position = 0;  // place in the rotated order of the round
};

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  virtual const DeviceInfo& info() const = 0;
  virtual const Space& space() const = 0;
  virtual db::Environment environment() const = 0;

  // What a search may visit: the space's listing, less what this source knows it cannot serve.
  virtual Space::Listing list(const Problem& problem) const { return space().list(problem); }

  // The problems that a recording answers for, empty for a device that measures.
  virtual std::vector<Problem> recorded_problems() const { return {}; }

  // Makes `problem` the current one: inputs from `seed`, reference, warm-up until stable. kOk, or
  // why it cannot be measured at all (kOutOfMemory, say).
  virtual Outcome select(const Problem& problem, uint64_t seed) = 0;

  // Whether a time of this configuration may count: runs once on poisoned outputs, every element
  // compared, canaries, capture. `first` is the default, which is checked against the float64
  // reference and becomes what the others are compared with.
  virtual Outcome admit(const KernelConfig& config, bool first) = 0;

  // One cold sample of an admitted configuration.
  virtual TimedRun sample(const KernelConfig& config, const SampleId& id) = 0;
};

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// Noise of the simulated sources. A value is a hash of what was measured and when within the
// tuning, never of how many calls came before, so that an interrupted run resumes to the same
// times.
#pragma once

#include <cstdint>

#include "kernels/config.h"
#include "kernels/problem.h"
#include "tuner/source.h"

namespace mla::tuner {

// A stream of independent numbers for one sample.
class SampleNoise {
 public:
  SampleNoise(uint64_t seed,
              const Problem& problem,
              const KernelConfig& config,
              const SampleId& id);

  double uniform();                // in (0, 1)
  double normal();                 // mean 0, deviation 1
  uint64_t index(uint64_t count);  // in [0, count)

 private:
  uint64_t next();

  uint64_t state_;
};

}  // namespace mla::tuner

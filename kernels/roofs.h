// SPDX-License-Identifier: MIT
// What a device can do at most, measured by the device itself: what its decode kernels are held
// against. Device::roofs() offers it where a backend has such probes.
#pragma once

#include "kernels/device.h"

namespace mla {

struct RoofRates {
  double read_gb_s = 0;       // 10^9 bytes a second from memory
  double l2_read_gb_s = 0;    // from the last-level cache, over and over; 0: unknown
  double empty_graph_us = 0;  // an empty launch, by the clock that times a decode
};

// Gathers the scattered KV rows that a decode step reads and does nothing else.
struct CopyOnly {
  double time_us = 0;
  KernelConfig config;
};

// Problems must come from the device that offers the probes.
class RoofProbes {
 public:
  virtual ~RoofProbes() = default;

  virtual RoofRates rates() = 0;
  // The fastest shape of the gather, each tried as the median of `rounds` cold samples.
  virtual CopyOnly best_copy_only(LoadedProblem& problem, int rounds) = 0;
  // One cold sample.
  virtual TimedRun time_copy_only(LoadedProblem& problem, const KernelConfig& config) = 0;
};

}  // namespace mla

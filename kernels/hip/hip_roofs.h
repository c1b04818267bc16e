// SPDX-License-Identifier: MIT
// The probes of probes.h as the roofs of a GPU.
#pragma once

#include "kernels/roofs.h"

namespace mla::hip {

class HipRoofs : public RoofProbes {
 public:
  // `device` outlives this.
  explicit HipRoofs(Device& device) : device_(device) {}

  RoofRates rates() override;
  CopyOnly best_copy_only(LoadedProblem& problem, int rounds) override;
  TimedRun time_copy_only(LoadedProblem& problem, const KernelConfig& config) override;

 private:
  Device& device_;
};

}  // namespace mla::hip

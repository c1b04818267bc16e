// SPDX-License-Identifier: MIT
#include "kernels/hip/hip_roofs.h"

#include "kernels/hip/hip_problem.cuh"
#include "kernels/hip/probes.h"

namespace mla::hip {

RoofRates HipRoofs::rates() {
  return probe_hip(device_);
}

CopyOnly HipRoofs::best_copy_only(LoadedProblem& problem, int rounds) {
  return hip::time_copy_only(problem, rounds);
}

TimedRun HipRoofs::time_copy_only(LoadedProblem& problem, const KernelConfig& config) {
  auto* hip = dynamic_cast<HipProblem*>(&problem);
  if (hip == nullptr) throw Error(ErrorCode::kInternal, "not a problem of a HIP device");
  return hip->time_copy_only(config);
}

}  // namespace mla::hip

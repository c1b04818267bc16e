// SPDX-License-Identifier: MIT
// HIP's status codes as this project's errors. Two kinds: a call that must work (check: the device
// is unusable otherwise) and a launch that a candidate may fail (launch_outcome).
#pragma once

#include <string>

#include "kernels/error.h"
#include "kernels/hip/hip_runtime.cuh"
#include "kernels/outcome.h"

namespace mla::hip {

inline std::string describe(hipError_t status) {
  const std::string error = hipGetErrorName(status);
  const std::string text = hipGetErrorString(status);
  return error == text ? error : error + ": " + text;  // some runtimes have no text
}

// Throws Error(kDevice): after a fault every further call fails too, so the process has to be left.
inline void check(hipError_t status, const std::string& what) {
  if (status != hipSuccess) throw Error(ErrorCode::kDevice, what + ": " + describe(status));
}

// What a kernel did and not what a launch was refused for. HIP's NVIDIA headers answer "unknown"
// for the faults they have no code for: misaligned addresses, illegal instructions.
inline bool is_fault(hipError_t status) {
  return status == hipErrorIllegalAddress || status == hipErrorLaunchFailure ||
         status == hipErrorLaunchTimeOut || status == hipErrorAssert ||
         status == hipErrorECCNotCorrectable || status == hipErrorUnknown;
}

// A refused launch leaves the device usable; the pending error is cleared. A fault of a kernel
// before, which any later call may report, throws as in check().
inline Outcome launch_outcome(hipError_t status) {
  if (status == hipSuccess) return {};
  if (is_fault(status)) throw Error(ErrorCode::kDevice, describe(status));
  static_cast<void>(hipGetLastError());
  if (status == hipErrorOutOfMemory) return {OutcomeKind::kOutOfMemory, describe(status)};
  return {OutcomeKind::kLaunchFailed, describe(status)};
}

}  // namespace mla::hip

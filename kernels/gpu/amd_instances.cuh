// SPDX-License-Identifier: MIT
// The compiled kernels for AMD as the launcher finds them.
#pragma once

#include "kernels/amd_plan.h"
#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

inline constexpr int kStage1Threads = kWaveLanes * kStage1Waves;
inline constexpr int kMaxStage2Threads = kWaveLanes * kMaxMergeWaves;

using AmdKernel = void (*)(DecodeParams, KernelConfig);

// One shape of stage 1 with one wait.
struct AmdStage1Instance {
  int32_t tile_n;
  int32_t stages;
  Wait wait;
  AmdKernel copy_only[2];  // [whether addresses have 64 bits]
  AmdKernel decode[2];
};

// Null where the head dimension is not cut like that.
AmdKernel stage2_kernel(int32_t tiles);

}  // namespace mla::gpu

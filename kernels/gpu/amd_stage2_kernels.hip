// SPDX-License-Identifier: MIT
// Stage 2 for each cut of the head dimension, by the symbols that amd_plan.h names.
#include "kernels/gpu/amd_instances.cuh"
#include "kernels/gpu/amd_stage2.cuh"

namespace mla::gpu {

extern "C" {
__global__ void __launch_bounds__(kMaxStage2Threads)
    stage2_t1(const DecodeParams p, const KernelConfig config) {
  stage2_bh16<1>(p, config);
}
__global__ void __launch_bounds__(kMaxStage2Threads)
    stage2_t2(const DecodeParams p, const KernelConfig config) {
  stage2_bh16<2>(p, config);
}
__global__ void __launch_bounds__(kMaxStage2Threads)
    stage2_t4(const DecodeParams p, const KernelConfig config) {
  stage2_bh16<4>(p, config);
}
__global__ void __launch_bounds__(kMaxStage2Threads)
    stage2_t8(const DecodeParams p, const KernelConfig config) {
  stage2_bh16<8>(p, config);
}
}

AmdKernel stage2_kernel(int32_t tiles) {
  switch (tiles) {
    case 1:
      return stage2_t1;
    case 2:
      return stage2_t2;
    case 4:
      return stage2_t4;
    case 8:
      return stage2_t8;
    default:
      return nullptr;
  }
}

}  // namespace mla::gpu

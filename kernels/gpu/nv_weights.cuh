// SPDX-License-Identifier: MIT
// How the score warpgroup passes the weights of a block, and the factors by which older ones
// shrink, to the value warpgroups: through one buffer in shared memory.
#pragma once

#include "kernels/gpu/nv_wgmma.cuh"
#include "kernels/wide_layout.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

class Weights {
 public:
  __device__ explicit Weights(uint8_t* local)
      : factors_(reinterpret_cast<float*>(local + WideLayout::factors()) +
                 threadIdx.x % kWarpgroupThreads / 32 * 16 + threadIdx.x % 32 / 4),
        base_(shared_address(local)) {}

  // By one thread, before any other use.
  __device__ void init() const {
    init_barrier(full(), kWarpgroupWarps);
    init_barrier(empty(), 2 * kWarpgroupWarps);
  }

  // Weights as products leave them; factors of rows lane / 4 and lane / 4 + 8 of the warp's.
  template <class Rows>
  __device__ void put(const float (&weights)[32], const Rows& factors) {
    uint32_t pairs[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) pairs[i] = pack_bf16(weights[2 * i], weights[2 * i + 1]);
    wait_barrier(empty(), parity_ ^ 1);
    const int row = threadIdx.x % kWarpgroupThreads / 32 * 16 + threadIdx.x % 32 / 4;
    const uint32_t target = panel() + row * kPanelRowBytes + threadIdx.x % 4 * 4;
#pragma unroll
    for (int i = 0; i < 16; ++i) {  // eight columns of a row; the other row is eight behind it
      const int place = i / 2 ^ row % 8;
      store_shared(target + i % 2 * 8 * kPanelRowBytes + place * 16, pairs[i]);
    }
    fence_async();
    pass_factors(factors);
  }

  template <class Rows>
  __device__ void put_factors(const Rows& factors) {
    wait_barrier(empty(), parity_ ^ 1);
    pass_factors(factors);
  }

  // Returns when the weights of the next block are there.
  template <class Rows>
  __device__ void take_factors(Rows* factors) {
    wait_barrier(full(), parity_);
    parity_ ^= 1;
    (*factors)[0] = factors_[0];
    (*factors)[1] = factors_[8];
  }

  // The weights as an operand.
  __device__ uint32_t panel() const {
    return base_ + WideLayout::weights();
  }

  // By all warps of a value warpgroup: weights and factors are read.
  __device__ void release() const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(empty());
  }

 private:
  __device__ uint32_t full() const {
    return base_ + WideLayout::weight_barriers();
  }
  __device__ uint32_t empty() const {
    return full() + 8;
  }

  template <class Rows>
  __device__ void pass_factors(const Rows& factors) {
    if (threadIdx.x % 4 == 0) {
      factors_[0] = factors[0];
      factors_[8] = factors[1];
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(full());
    parity_ ^= 1;
  }

  float* factors_;  // of this thread's first row
  uint32_t base_;
  uint32_t parity_ = 0;
};

}  // namespace mla::gpu
#endif

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
      : factors_(reinterpret_cast<float*>(local + WideLayout::factors()) + warpgroup_row(0)),
        base_(shared_address(local)) {}

  // By one thread, before any other use.
  __device__ void init() const {
    init_barrier(full(), kWarpgroupWarps);
    init_barrier(empty(), 2 * kWarpgroupWarps);
    for (int turn = 0; turn < 2; ++turn) init_barrier(factors_full(turn), kWarpgroupWarps);
  }

  // The factors of block `block` of rows lane / 4 and lane / 4 + 8 of the warp's, ahead of its
  // weights: the output shrinks while those are worked out. Factors of one block more than blocks
  // normalise the output. Two buffers in turn: those of the block before may not be read yet.
  template <class Rows>
  __device__ void put_factors(int block, const Rows& factors) const {
    if (threadIdx.x % 4 == 0) {
      float* target = factors_ + block % 2 * kWideRows;
      target[0] = factors[0];
      target[8] = factors[1];
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(factors_full(block % 2));
  }

  template <class Rows>
  __device__ void take_factors(int block, Rows* factors) const {
    wait_barrier(factors_full(block % 2), block / 2 % 2);
    const float* source = factors_ + block % 2 * kWideRows;
    (*factors)[0] = source[0];
    (*factors)[1] = source[8];
  }

  // Pairs of weights in the order of products.
  __device__ void put(int block, const uint32_t (&pairs)[16]) const {
    wait_barrier(empty(), block % 2 ^ 1);
    // Matrices: rows 0..7 and 8..15 of the warp's sixteen, of eight columns and of the next eight.
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x % kWarpgroupThreads / 32 * 16 + lane % 16;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const int place = 2 * step + lane / 16 ^ lane % 8;
      store_matrices(panel() + row * kPanelRowBytes + place * 16,
                     pairs[4 * step],
                     pairs[4 * step + 1],
                     pairs[4 * step + 2],
                     pairs[4 * step + 3]);
    }
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(full());
  }

  __device__ void wait(int block) const {
    wait_barrier(full(), block % 2);
  }

  // The weights as an operand.
  __device__ uint32_t panel() const {
    return base_ + WideLayout::weights();
  }

  // By all warps of a value warpgroup: the weights are read.
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
  __device__ uint32_t factors_full(int turn) const {
    return full() + 16 + turn * 8;
  }

  float* factors_;  // of this thread's first row
  uint32_t base_;
};

}  // namespace mla::gpu
#endif

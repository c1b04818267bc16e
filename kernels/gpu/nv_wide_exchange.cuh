// SPDX-License-Identifier: MIT
// What the two consumers of a wide workgroup tell each other through shared memory: of every block
// the one that has its scores passes on the maxima of its rows, then the weights; at the end both
// pass on their row sums. Before the first weights, the last panels of the queries are in their
// place, until both have them in registers.
#pragma once

#include "kernels/gpu/nv_wgmma.cuh"
#include "kernels/wide_layout.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

// Hardware barriers beside __syncthreads', one a side. (What both sides wait for, each at its own
// place in the code, is a barrier in shared memory.)
inline constexpr int kSideBarrier = 1;

class Exchange {
 public:
  using Rows = FragmentRows;

  __device__ explicit Exchange(uint8_t* local)
      : maxima_(reinterpret_cast<float*>(local + WideLayout::maxima())),
        sums_(reinterpret_cast<float*>(local + WideLayout::sums())),
        base_(shared_address(local)) {}

  // By one thread, before any other use.
  __device__ void init() const {
    for (int i = 0; i < kKinds * kWideSides; ++i) init_barrier(barrier(0, i), kWarpgroupWarps);
    init_barrier(queries_there(), kWideConsumerWarps);
  }

  // Until the query panels are there, of which each thread has copied a part, and what else a
  // consumer has stored before it calls this.
  __device__ void wait_queries() const {
    wait_copies<0>();
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(queries_there());
    wait_barrier(queries_there(), 0);
  }

  // The maxima of a block's rows, `side`'s: ahead of its weights, so that the output of the other
  // side shrinks and its scores get their base while those are worked out. One place is enough: a
  // side passes on the next ones after it has taken those of the block between, which the other one
  // passes on after it has taken these.
  __device__ void put_maxima(int side, const Rows& max) const {
    if (threadIdx.x % 4 == 0) put_rows(maxima_ + side * kWideRows, max);
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(barrier(side, kMaxima));
  }
  __device__ Rows take_maxima(int side, uint32_t parity) const {
    wait_barrier(barrier(side, kMaxima), parity);
    return take_rows(maxima_ + side * kWideRows);
  }

  // Pairs of weights in the order of products; by `side`, which waits until the other one has
  // released the panel once more: first after it has read its queries there.
  __device__ void put_weights(int side, uint32_t parity, const uint32_t (&pairs)[4][4]) const {
    wait_barrier(barrier(side, kWeightsRead), parity);
    // Matrices: rows 0..7 and 8..15 of the warp's sixteen, of eight columns and of the next eight.
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x % kWarpgroupThreads / 32 * 16 + lane % 16;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const int place = 2 * step + lane / 16 ^ lane % 8;
      store_matrices(weights(side) + row * kPanelRowBytes + place * 16,
                     pairs[step][0],
                     pairs[step][1],
                     pairs[step][2],
                     pairs[step][3]);
    }
    fence_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(barrier(side, kWeights));
  }
  // The panel of `side`'s weights, once they are there.
  __device__ uint32_t take_weights(int side, uint32_t parity) const {
    wait_barrier(barrier(side, kWeights), parity);
    return weights(side);
  }
  // The panel of `side`'s weights, by all warps of the other side.
  __device__ void release_weights(int side) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(barrier(side, kWeightsRead));
  }

  // The sums of both sides.
  __device__ Rows add_sums(int side, const Rows& sum) const {
    if (threadIdx.x % 4 == 0) put_rows(sums_ + side * kWideRows, sum);
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(barrier(side, kSums));
    wait_barrier(barrier(1 - side, kSums), 0);
    const Rows other = take_rows(sums_ + (1 - side) * kWideRows);
    return {{sum[0] + other[0], sum[1] + other[1]}};
  }

  // The query panels that products read, and those that go to registers.
  __device__ uint32_t queries() const {
    return base_ + WideLayout::queries();
  }
  __device__ uint32_t register_panels() const {
    return weights(0);
  }

 private:
  enum Kind { kMaxima, kWeights, kWeightsRead, kSums, kKinds };

  __device__ static void put_rows(float* rows, const Rows& value) {
#pragma unroll
    for (int i = 0; i < Rows::kCount; ++i) rows[warpgroup_row(i)] = value[i];
  }
  __device__ static Rows take_rows(const float* rows) {
    return {{rows[warpgroup_row(0)], rows[warpgroup_row(1)]}};
  }

  __device__ uint32_t barrier(int side, int kind) const {
    return base_ + WideLayout::exchange_barriers() + (side * kKinds + kind) * 8;
  }
  __device__ uint32_t queries_there() const {
    return barrier(kWideSides, 0);
  }
  __device__ uint32_t weights(int side) const {
    return base_ + WideLayout::weights() + side * kPanelBytes;
  }

  float* maxima_;
  float* sums_;
  uint32_t base_;
};

}  // namespace mla::gpu
#endif

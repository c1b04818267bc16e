// SPDX-License-Identifier: MIT
// The output of a wide workgroup's consumer: O += P V for its half of the 512 columns, and its end,
// which stores the output or a partial result.
#pragma once

#include "kernels/gpu/nv_wide_exchange.cuh"
#include "kernels/gpu/nv_wide_results.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

// A block is named by its stage in the ring, a half by its side.
template <class Ring>
class OutputHalf {
 public:
  using Rows = FragmentRows;

  __device__ explicit OutputHalf(const Ring& ring) : ring_(ring) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) output_[i] = 0;
  }

  // No products may be under way.
  __device__ void shrink(const Rows& factor) {
    if (__any_sync(~0u, factor[0] != 1.0f || factor[1] != 1.0f)) rescale(factor);
  }

  // Until the block's values are there, `rows` of them.
  __device__ void wait_values(int side, int stage, uint32_t parity, int rows) const {
#pragma unroll
    for (int i = 0; i < kSidePairs; ++i) ring_.wait_full(unit(side, stage, i), parity);
    if (rows < kWideTileN) clear_tail(side, stage, rows);
  }

  // Starts the products of a block, whose weights are in registers or a panel: a group.
  __device__ void multiply(int side, int stage, const uint32_t (&weight)[4][4]) {
    const uint64_t rows = made_anew(values(side, stage));
    begin_products();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      multiply_values(output_, weight[step], rows + step * kStepRows);
    }
    commit_products();
  }
  __device__ void multiply(int side, int stage, uint32_t weights) {
    const uint64_t rows = made_anew(values(side, stage));
    const uint64_t columns = made_anew(panel_operand(weights));
    begin_products();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      multiply_values(output_, columns + 2 * step, rows + step * kStepRows);
    }
    commit_products();
  }
  // Once they are done.
  __device__ void release(int side, int stage) {
    settle(output_);
#pragma unroll
    for (int i = 0; i < kSidePairs; ++i) ring_.release(unit(side, stage, i));
  }

  __device__ void store(int side, const ResultRows& results, const Rows& factors) {
    rescale(factors);
    const int column = side * (kValueDim / kWideSides);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (results.partial()) {
        store_partial(i, results.row<float>(warpgroup_row(i)), column);
      } else {
        store_output(i, results.row<uint16_t>(warpgroup_row(i)), column);
      }
    }
  }

 private:
  static constexpr int kSums = 128;
  static constexpr int kTiles = kSums / 4;  // of eight columns
  static constexpr int kSteps = kWideTileN / 16;
  static constexpr int kStepRows = 16 * kPanelRowBytes >> 4;  // of an operand

  __device__ static constexpr int unit(int side, int stage, int pair) {
    return Ring::pair_unit(stage, side * kSidePairs + pair);
  }
  __device__ uint64_t values(int side, int stage) const {
    return ring_.operand(Ring::first_panel(unit(side, stage, 0)));
  }

  // Columns 8 * tile.. of the thread's row `i`.
  __device__ const float* sums(int tile, int i) const {
    return output_ + tile * 4 + 2 * i;
  }

  __device__ void rescale(const Rows& factor) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) output_[i] *= factor[i / 2 % 2];
  }

  // Behind the last row a page may hold anything, NaN too, which a weight of 0 would not stop.
  __device__ void clear_tail(int side, int stage, int rows) const {
    constexpr int kRowPieces = kPanelRowBytes / 16;
    const int first = Ring::first_panel(unit(side, stage, 0));
#pragma unroll 1
    for (int panel = 0; panel < kSidePairs * kPairPanels; ++panel) {
#pragma unroll 1
      for (int piece = rows * kRowPieces + threadIdx.x % kWarpgroupThreads;
           piece < kWideTileN * kRowPieces;
           piece += kWarpgroupThreads) {
        store_zeros(ring_.panel(first + panel) + piece * 16);
      }
    }
    fence_async();
    __syncwarp();
    named_barrier(kSideBarrier + side, kWarpgroupThreads);
  }

  // Row `i` of the thread's two; the four lanes of a row call it together.
  __device__ void store_output(int i, uint16_t* row, int column) const {
    // Four tiles of eight columns: lanes swap pairs until each has all of one tile.
    const int lane = threadIdx.x % 4;
#pragma unroll
    for (int tile = 0; tile < kTiles; tile += 4) {
      uint32_t pair[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const float* o = sums(tile + t, i);
        pair[t] = pack_bf16(o[0], o[1]);
      }
      transpose_pairs<1>(pair, lane);
      transpose_pairs<2>(pair, lane);
      if (row == nullptr) continue;
      *reinterpret_cast<uint4*>(row + column + (tile + lane) * 8) = {
          pair[0], pair[1], pair[2], pair[3]};
    }
  }

  // Transposes the pairs of lanes that differ in bit kBit.
  template <int kBit>
  __device__ static void transpose_pairs(uint32_t (&pair)[4], int lane) {
    const bool high = (lane & kBit) != 0;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      if ((t & kBit) != 0) continue;
      uint32_t& low_pair = pair[t];
      uint32_t& high_pair = pair[t | kBit];
      const uint32_t other = __shfl_xor_sync(~0u, high ? low_pair : high_pair, kBit);
      (high ? low_pair : high_pair) = other;
    }
  }

  __device__ void store_partial(int i, float* row, int column) const {
    // As swap_pairs(), which nvcc 13 makes into branches here, with 24 bytes more that spill.
    const bool odd = threadIdx.x % 2 != 0;
    column += odd * 8 + threadIdx.x % 4 / 2 * 4;
#pragma unroll
    for (int tile = 0; tile < kTiles; tile += 2) {
      const float* o = sums(tile, i);
      const float2 own = odd ? float2{o[4], o[5]} : float2{o[0], o[1]};
      float2 other = odd ? float2{o[0], o[1]} : float2{o[4], o[5]};
      other.x = __shfl_xor_sync(~0u, other.x, 1);
      other.y = __shfl_xor_sync(~0u, other.y, 1);
      if (row == nullptr) continue;
      *reinterpret_cast<float4*>(row + column + tile * 8) =
          odd ? float4{other.x, other.y, own.x, own.y} : float4{own.x, own.y, other.x, other.y};
    }
  }

  Ring ring_;
  float output_[kSums];
};

}  // namespace mla::gpu
#endif

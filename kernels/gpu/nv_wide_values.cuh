// SPDX-License-Identifier: MIT
// A value warpgroup of a wide workgroup: O += P V for its half of the 512 columns, and its end,
// which stores the output or a partial result.
#pragma once

#include "kernels/gpu/nv_wide_scores.cuh"

namespace mla::gpu {

// Hardware barriers, one a value warpgroup.
inline constexpr int kValueBarrier = 1;

}  // namespace mla::gpu

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

template <class Ring>
class Values {
 public:
  using Rows = ScoreTile::Rows;

  __device__ Values(const Walk<kWideTileN>& walk,
                    const Ring& ring,
                    const Weights& weights,
                    int half)
      : walk_(walk), ring_(ring), weights_(weights), half_(half) {
    at_.advance(half * kOwnPairs, kPairSlots);
#pragma unroll
    for (int i = 0; i < 2 * kSums; ++i) output_[i / kSums][i % kSums] = 0;
  }

  __device__ void run() {
    const int blocks = walk_.count();
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      Rows shrink;
      weights_.take_factors(block, &shrink);
      if (__any_sync(~0u, shrink[0] != 1.0f || shrink[1] != 1.0f)) rescale(shrink);
      const RingPosition pairs[] = {at_, next(at_, 1)};
#pragma unroll
      for (const RingPosition& pair : pairs) ring_.wait_full(pair.slot, pair.parity);
      if (walk_.rows(block) < kWideTileN) clear_tail(pairs, walk_.rows(block));
      weights_.wait(block);
      begin_products();
      multiply(output_[0], pairs[0]);
      multiply(output_[1], pairs[1]);
      wait_products<1>();
      ring_.release(pairs[0].slot);
      wait_products<0>();
      settle(output_[0]);
      settle(output_[1]);
      ring_.release(pairs[1].slot);
      weights_.release();
      at_ = next(at_, kBlockPairs);
    }
  }

  __device__ void finish(const ResultRows& results) {
    Rows factors;
    weights_.take_factors(walk_.count(), &factors);
    rescale(factors);
    const int column = half_ * kValueDim / 2;
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
  static constexpr int kOwnPairs = kBlockPairs / 2;
  static constexpr int kSums = 64;  // of 128 columns
  static constexpr int kTiles = 2 * kSums / 4;

  // Columns 8 * tile.. of the thread's row `i`.
  __device__ const float* sums(int tile, int i) const {
    return output_[tile / (kTiles / 2)] + tile % (kTiles / 2) * 4 + 2 * i;
  }

  __device__ static RingPosition next(RingPosition at, int pairs) {
    at.advance(pairs, kPairSlots);
    return at;
  }

  // 128 columns.
  __device__ void multiply(float (&sums)[kSums], const RingPosition& pair) const {
    constexpr int kStepBytes = 16 * kPanelRowBytes;  // of values; 32 of weights
    const uint64_t weights = panel_operand(weights_.panel());
    const uint64_t values = ring_.operand(Ring::first_panel(pair.slot));
#pragma unroll
    for (int step = 0; step < 4; ++step) {  // 16 cached rows
      multiply_values(sums, weights + 2 * step, values + step * (kStepBytes >> 4));
    }
    commit_products();
  }

  __device__ void rescale(const Rows& factor) {
#pragma unroll
    for (int i = 0; i < 2 * kSums; ++i) output_[i / kSums][i % kSums] *= factor[i / 2 % 2];
  }

  // Behind the last row a page may hold anything, NaN too, which a weight of 0 would not stop.
  __device__ void clear_tail(const RingPosition (&pairs)[kOwnPairs], int rows) {
    constexpr int kRowPieces = kPanelRowBytes / 16;
#pragma unroll 1
    for (int panel = 0; panel < kOwnPairs * kPairPanels; ++panel) {
      const int slot = Ring::first_panel(pairs[panel / kPairPanels].slot) + panel % kPairPanels;
#pragma unroll 1
      for (int piece = rows * kRowPieces + threadIdx.x % kWarpgroupThreads;
           piece < kWideTileN * kRowPieces;
           piece += kWarpgroupThreads) {
        store_zeros(ring_.panel(slot) + piece * 16);
      }
    }
    fence_async();
    named_barrier(kValueBarrier + half_, kWarpgroupThreads);
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

  Walk<kWideTileN> walk_;
  Ring ring_;
  Weights weights_;
  int half_;
  RingPosition at_;
  float output_[2][kSums];
};

}  // namespace mla::gpu
#endif

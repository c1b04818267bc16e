// SPDX-License-Identifier: MIT
// The four warps of a team add their partial scores, each of a quarter of the columns, through
// shared memory, so that every warp holds all scores.
#pragma once

#include "kernels/bh16_layout.h"
#include "kernels/gpu/nv_ptx.cuh"

namespace mla::gpu {

// kTiles: m16n8 tiles of the scores.
template <int kTiles>
class ScoreExchange {
 public:
  // Whether each warp sums its share of the tiles for all.
  static constexpr bool kShared = kTiles >= kWarpsPerTeam;

  // buffers: two of [4 warps][kTiles][32 lanes] float4.
  __device__ ScoreExchange(float4* buffers, int barrier_id)
      : buffers_(buffers), barrier_id_(barrier_id) {}

  // The largest value over the warps, of each of the thread's two rows.
  __device__ void largest(float (&value)[2]) {
    next_buffer();
    auto* buffer = reinterpret_cast<float2*>(buffer_);
    buffer[warp() * 32 + lane()] = make_float2(value[0], value[1]);
    named_barrier(barrier_id_, kTeamThreads);
#pragma unroll
    for (int w = 0; w < kWarpsPerTeam; ++w) {
      const float2 other = buffer[w * 32 + lane()];
      value[0] = fmaxf(value[0], other.x);
      value[1] = fmaxf(value[1], other.y);
    }
  }

  // scores = the sum over the warps, times the scale of each of the thread's two rows; in three
  // steps, for what a warp can do in between.
  __device__ void put(const float (&partial)[kTiles][4]) {
    next_buffer();
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      buffer_[(warp() * kTiles + t) * 32 + lane()] =
          make_float4(partial[t][0], partial[t][1], partial[t][2], partial[t][3]);
    }
  }

  // Of many tiles each warp sums its share: a second barrier costs less than to read all four
  // partial sums of every tile in every warp.
  __device__ void add(const float (&scale)[2]) {
    if constexpr (kShared) {
      named_barrier(barrier_id_, kTeamThreads);
      constexpr int kShare = kTiles / kWarpsPerTeam;
#pragma unroll
      for (int i = 0; i < kShare; ++i) {
        const int t = warp() * kShare + i;
        buffer_[t * 32 + lane()] = sum_of_warps(t, scale);
      }
    }
  }

  __device__ void take(const float (&scale)[2], float (&scores)[kTiles][4]) {
    take_from(buffer_, scale, scores);
  }

  // `take` behind the `put` of the next scores, if there are any (`next_put`), and before the `add`
  // of these: its barrier keeps the warps from putting more where others still read.
  __device__ void take_late(bool next_put, float (&scores)[kTiles][4]) {
    static_assert(kShared);
    take_from(buffer(next_put ? turn_ : turn_ ^ 1), {}, scores);
  }

 private:
  __device__ void take_from(const float4* buffer,
                            const float (&scale)[2],
                            float (&scores)[kTiles][4]) const {
    named_barrier(barrier_id_, kTeamThreads);
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const float4 score = kShared ? buffer[t * 32 + lane()] : sum_of_warps(t, scale);
      scores[t][0] = score.x;
      scores[t][1] = score.y;
      scores[t][2] = score.z;
      scores[t][3] = score.w;
    }
  }

  __device__ static int lane() {
    return threadIdx.x % 32;
  }
  __device__ static int warp() {
    return threadIdx.x / 32 % kWarpsPerTeam;
  }

  // Two buffers in turn: a warp that is one block ahead never writes what another still reads.
  __device__ void next_buffer() {
    buffer_ = buffer(turn_);
    turn_ ^= 1;
  }

  __device__ float4* buffer(int turn) const {
    return buffers_ + turn * kWarpsPerTeam * kTiles * 32;
  }

  __device__ float4 sum_of_warps(int t, const float (&scale)[2]) const {
    float4 part[kWarpsPerTeam];
#pragma unroll
    for (int w = 0; w < kWarpsPerTeam; ++w) part[w] = buffer_[(w * kTiles + t) * 32 + lane()];
    return make_float4(scale[0] * ((part[0].x + part[1].x) + (part[2].x + part[3].x)),
                       scale[0] * ((part[0].y + part[1].y) + (part[2].y + part[3].y)),
                       scale[1] * ((part[0].z + part[1].z) + (part[2].z + part[3].z)),
                       scale[1] * ((part[0].w + part[1].w) + (part[2].w + part[3].w)));
  }

  float4* buffers_;
  float4* buffer_ = nullptr;  // of the block at hand
  int barrier_id_;
  int turn_ = 0;
};

}  // namespace mla::gpu

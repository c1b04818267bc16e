// SPDX-License-Identifier: MIT
// Stage 2 on NVIDIA: one workgroup per output row and slice of the head dimension. The splits are
// dealt over up to sixteen classes whose sums are added in a fixed order, so that the number of
// warps, which walk the classes, changes no bit.
#pragma once

#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/gpu/nv_shares.cuh"
#include "kernels/stage2.h"

namespace mla::gpu {

// Classes without a split would only take shared memory, and with it workgroups from the SM.
constexpr int merge_classes(int splits) {
  return splits < 16 ? splits : 16;
}

constexpr int merge_local_bytes(int splits, int stage2_tiles) {
  return merge_classes(splits) * (kValueDim / stage2_tiles) * 4 + splits * 4;
}

struct MergeScalars {
  float max;
  float sum;  // of e^(lse - max)
};

// The same in every lane of every warp.
__device__ inline MergeScalars merge_scalars(const float* lse, int splits) {
  const int lane = threadIdx.x % 32;
  MergeScalars result = {-INFINITY, 0};
  for (int s = lane; s < splits; s += 32) result.max = fmaxf(result.max, lse[s]);
  for (int step = 16; step > 0; step /= 2)
    result.max = fmaxf(result.max, __shfl_xor_sync(~0u, result.max, step));
  for (int s = lane; s < splits && result.max > -INFINITY; s += 32)
    result.sum += __expf(lse[s] - result.max);
  for (int step = 16; step > 0; step /= 2) result.sum += __shfl_xor_sync(~0u, result.sum, step);
  return result;
}

// The slice of an output row's partial results that a lane reads, kBatch splits at a time.
template <int kColumns>
struct PartialReader {
  static constexpr int kPairs = kColumns / 64;                  // float2 a lane
  static constexpr int kBatch = kPairs <= 2 ? 8 : 16 / kPairs;  // up to 32 registers
  const float* slice;                                           // of split 0
  int splits;
  int classes;
  float2 value[kBatch][kPairs];

  // Splits s, s + classes, ...: all loads in flight at once. Past the L1, which may hold
  // older lines.
  __device__ void load(int s) {
#pragma unroll
    for (int b = 0; b < kBatch; ++b, s += classes) {
      const auto* part =
          reinterpret_cast<const float2*>(slice + int64_t{s} * kValueDim) + threadIdx.x % 32;
#pragma unroll
      for (int i = 0; i < kPairs; ++i) value[b][i] = s < splits ? __ldcg(part + i * 32) : float2{};
    }
  }
  // sum += weight * value. A split that saw no row left its partial output unwritten: its weight is
  // 0.
  __device__ void add(int s,
                      const float* lse,
                      const MergeScalars& scalars,
                      float inverse_sum,
                      float2 (&sum)[kPairs]) const {
#pragma unroll
    for (int b = 0; b < kBatch; ++b, s += classes) {
      const float weight = s < splits ? __expf(lse[s] - scalars.max) * inverse_sum : 0;
#pragma unroll
      for (int i = 0; i < kPairs && weight > 0; ++i) {
        sum[i].x += weight * value[b][i].x;
        sum[i].y += weight * value[b][i].y;
      }
    }
  }
};

// kTiles: ways the head dimension is cut; stage1_workgroups: those of a persistent stage 1.
template <int kTiles, Schedule kSchedule>
__global__ void stage2_bh16(const DecodeParams p,
                            const KernelConfig config,
                            const int32_t stage1_workgroups) {
  constexpr int kColumns = kValueDim / kTiles;
  using Reader = PartialReader<kColumns>;
  extern __shared__ __align__(16) float2 class_sums[];  // [classes][kColumns / 2]
  const int classes = merge_classes(config.splits);
  auto* lse = reinterpret_cast<float*>(class_sums + classes * kColumns / 2);  // [splits]
  const auto workgroup = static_cast<int32_t>(blockIdx.x);
  const int32_t row = workgroup / config.stage2_tiles;
  const int32_t first_column = workgroup % config.stage2_tiles * kColumns;
  int splits;
  if constexpr (kSchedule == Schedule::kPersistent) {
    splits = pieces_of_row(p, config, stage1_workgroups, row);
  } else {
    const auto rows = static_cast<int32_t>(request_rows(p, row / p.nhead / p.q_len));
    splits = effective_splits<int32_t>(rows, config.splits, config.tile_n);
  }
  // Also before an early return: this kernel must not be complete before the one that it follows.
  wait_for_primary();
  if (splits <= 1) return;  // stage 1 wrote the output

  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
  const int warp = threadIdx.x / 32;
  const int warps = blockDim.x / 32;
  Reader reader = {partials.output(row, 0) + first_column, splits, classes};
  reader.load(warp);  // on its way while the weights are worked out
  for (int s = threadIdx.x; s < splits; s += blockDim.x) lse[s] = __ldcg(partials.lse(row, s));
  __syncthreads();
  const MergeScalars scalars = merge_scalars(lse, splits);
  const float inverse_sum = scalars.sum > 0 ? 1 / scalars.sum : 0;
  for (int c = warp; c < classes; c += warps) {
    float2 sum[Reader::kPairs] = {};
    for (int s = c; s < splits; s += classes * Reader::kBatch) {
      if (s != warp) reader.load(s);
      reader.add(s, lse, scalars, inverse_sum, sum);
    }
#pragma unroll
    for (int i = 0; i < Reader::kPairs; ++i) {
      class_sums[c * kColumns / 2 + i * 32 + threadIdx.x % 32] = sum[i];
    }
  }
  __syncthreads();

  auto* out = reinterpret_cast<uint32_t*>(p.out + int64_t{row} * kValueDim + first_column);
  for (int pair = threadIdx.x; pair < kColumns / 2; pair += blockDim.x) {
    float2 sum = class_sums[pair];
#pragma unroll 4
    for (int c = 1; c < classes; ++c) {
      const float2 other = class_sums[c * kColumns / 2 + pair];
      sum.x += other.x;
      sum.y += other.y;
    }
    out[pair] = pack_bf16(sum.x, sum.y);
  }
  if (first_column == 0 && threadIdx.x == 0 && p.lse != nullptr) {
    p.lse[row] = scalars.sum > 0 ? scalars.max + logf(scalars.sum) : -INFINITY;
  }
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Stage 2 on NVIDIA: one workgroup per output row and slice of the head dimension. The splits are
// dealt over eight classes whose sums are added in a fixed order, so that the number of warps, which
// walk the classes, changes no bit.
#pragma once

#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/stage2.h"

namespace mla::gpu {

inline constexpr int kMergeClasses = 8;

struct MergeScalars {
  float max;
  float sum;  // of e^(lse - max)
};

// The same in every lane of every warp.
__device__ inline MergeScalars merge_scalars(const float* lse, int splits) {
  const int lane = threadIdx.x % 32;
  MergeScalars result = {-INFINITY, 0};
  for (int s = lane; s < splits; s += 32) result.max = fmaxf(result.max, lse[s]);
  for (int step = 16; step > 0; step /= 2) result.max = fmaxf(result.max, __shfl_xor_sync(~0u, result.max, step));
  for (int s = lane; s < splits && result.max > -INFINITY; s += 32) result.sum += __expf(lse[s] - result.max);
  for (int step = 16; step > 0; step /= 2) result.sum += __shfl_xor_sync(~0u, result.sum, step);
  return result;
}

// kTiles: ways the head dimension is cut.
template <int kTiles>
__global__ void stage2_bh16(const DecodeParams p, const KernelConfig config) {
  constexpr int kColumns = kValueDim / kTiles;
  constexpr int kPairs = kColumns / 64;  // float2 a lane
  __shared__ float2 class_sums[kMergeClasses][kColumns / 2];
  extern __shared__ float lse[];  // [splits]
  const Stage2Item item = stage2_item(config, blockIdx.x);
  const int64_t row = item.output_row;
  const int64_t rows = request_rows(p, row / p.nhead / p.q_len);
  const int splits = static_cast<int>(effective_splits(rows, config.splits, config.tile_n));
  // Also before an early return: this kernel must not be complete before the one that it follows.
  wait_for_primary();
  if (splits <= 1) return;  // stage 1 wrote the output

  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
  // Written by the kernel before: read past the L1, which may hold older lines.
  for (int s = threadIdx.x; s < splits; s += blockDim.x) lse[s] = __ldcg(partials.lse(row, s));
  __syncthreads();
  const MergeScalars scalars = merge_scalars(lse, splits);
  const int lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32;
  const float inverse_sum = scalars.sum > 0 ? 1 / scalars.sum : 0;
  for (int c = threadIdx.x / 32; c < kMergeClasses; c += warps) {
    float2 sum[kPairs] = {};
#pragma unroll 8
    for (int s = c; s < splits; s += kMergeClasses) {
      // 0 for a split that saw no row: it left its partial output unwritten.
      const float weight = inverse_sum > 0 ? __expf(lse[s] - scalars.max) * inverse_sum : 0;
      const auto* part = reinterpret_cast<const float2*>(partials.output(row, s) + item.tile * kColumns);
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        const float2 value = weight > 0 ? __ldcg(part + i * 32 + lane) : make_float2(0, 0);
        sum[i].x += weight * value.x;
        sum[i].y += weight * value.y;
      }
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) class_sums[c][i * 32 + lane] = sum[i];
  }
  __syncthreads();

  auto* out = reinterpret_cast<uint32_t*>(p.out + row * kValueDim + item.tile * kColumns);
  for (int pair = threadIdx.x; pair < kColumns / 2; pair += blockDim.x) {
    float2 sum = class_sums[0][pair];
    for (int c = 1; c < kMergeClasses; ++c) {
      sum.x += class_sums[c][pair].x;
      sum.y += class_sums[c][pair].y;
    }
    out[pair] = pack_bf16(sum.x, sum.y);
  }
  if (item.tile == 0 && threadIdx.x == 0 && p.lse != nullptr) {
    p.lse[row] = scalars.sum > 0 ? scalars.max + logf(scalars.sum) : -INFINITY;
  }
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Stage 2 on AMD: one workgroup per output row and slice of the head dimension. The splits are
// dealt over up to sixteen classes whose sums are added in a fixed order, so that neither the
// number of waves, which walk the classes, nor the cut of the head dimension changes a bit.
#pragma once

#include "kernels/gpu/amd_isa.cuh"
#include "kernels/stage1.h"
#include "kernels/stage2.h"

namespace mla::gpu {

// One class is walked by a group of lanes, four neighbouring columns of the slice each.
template <int kTiles>
struct MergeSlice {
  static constexpr int kColumns = kValueDim / kTiles;
  static constexpr int kLanes = kColumns / 4 < kWaveLanes ? kColumns / 4 : kWaveLanes;
  static constexpr int kLoads = kColumns / 4 / kLanes;  // of each lane, for one split
  static constexpr int kBatch = 8 / kLoads;             // splits of a class in flight

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  __device__ static int group() { return static_cast<int>(threadIdx.x) / kLanes; }
  __device__ static int groups() { return static_cast<int>(blockDim.x) / kLanes; }
};

// The greatest of lse[0..splits), the same in every lane. -inf where no split saw a row.
__device__ inline float greatest(const float* lse, int splits) {
  float max = -INFINITY;
  for (int s = lane_index(); s < splits; s += kWaveLanes) max = fmaxf(max, lse[s]);
#pragma unroll
  for (int mask = 1; mask < kWaveLanes; mask *= 2) max = fmaxf(max, other_lane(max, mask));
  return max;
}

// The sum over splits first, first + step, ... of 2^(lse - max) and of that times the partial
// result. A split that saw no row left its partial result unwritten: its weight is 0.
template <int kTiles>
__device__ float sum_class(const float* partial,
                           const float* lse,
                           int splits,
                           int first,
                           int step,
                           float max,
                           Float4 (&sum)[MergeSlice<kTiles>::kLoads]) {
  using Slice = MergeSlice<kTiles>;
  float weight_sum = 0;
  for (int s = first; s < splits; s += step * Slice::kBatch) {
    Float4 part[Slice::kBatch][Slice::kLoads];
    float part_lse[Slice::kBatch];
#pragma unroll
    for (int b = 0; b < Slice::kBatch; ++b) {
      // Behind the last split that one again, of no weight.
      const int split = min(s + b * step, splits - 1);
      const auto* columns = reinterpret_cast<const Float4*>(partial + int64_t{split} * kValueDim);
      part_lse[b] = s + b * step < splits ? lse[split] : -INFINITY;
#pragma unroll
      for (int i = 0; i < Slice::kLoads; ++i) {
        part[b][i] = columns[i * Slice::kLanes + Slice::lane()];
      }
    }
#pragma unroll
    for (int b = 0; b < Slice::kBatch; ++b) {
      const float weight = exp2_approx((part_lse[b] - max) * kLog2e);
      if (!(weight > 0)) continue;  // also the NaN of a row without any split
      weight_sum += weight;
#pragma unroll
      for (int i = 0; i < Slice::kLoads; ++i) sum[i] += weight * part[b][i];
    }
  }
  return weight_sum;
}

template <int kTiles>
__device__ void stage2_bh16(const DecodeParams& p, const KernelConfig& config) {
  using Slice = MergeSlice<kTiles>;
  extern __shared__ __align__(16) float class_sums[];  // [classes][columns], then their weights
  const int classes = amd_merge_classes(config.splits);
  float* class_weights = class_sums + classes * Slice::kColumns;
  const auto workgroup = static_cast<int32_t>(blockIdx.x);
  const int32_t row = workgroup / kTiles;
  const int32_t first_column = workgroup % kTiles * Slice::kColumns;
  const auto rows = static_cast<int32_t>(request_rows(p, row / p.nhead / p.q_len));
  const int32_t splits = effective_splits<int32_t>(rows, config.splits, config.tile_n);
  if (splits <= 1) return;  // stage 1 wrote the output

  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
  const float* lse = partials.lse(row, 0);
  const float max = greatest(lse, splits);
  for (int c = Slice::group(); c < classes; c += Slice::groups()) {
    Float4 sum[Slice::kLoads] = {};
    const float weight = sum_class<kTiles>(
        partials.output(row, 0) + first_column, lse, splits, c, classes, max, sum);
    auto* target = reinterpret_cast<Float4*>(class_sums + c * Slice::kColumns);
#pragma unroll
    for (int i = 0; i < Slice::kLoads; ++i) target[i * Slice::kLanes + Slice::lane()] = sum[i];
    if (Slice::lane() == 0) class_weights[c] = weight;
  }
  barrier();

  float total = 0;
  for (int c = 0; c < classes; ++c) total += class_weights[c];
  const float scale = total > 0 ? reciprocal_approx(total) : 0;
  for (int i = static_cast<int>(threadIdx.x); i < Slice::kColumns / 4;
       i += static_cast<int>(blockDim.x)) {
    Float4 sum = {0, 0, 0, 0};
    for (int c = 0; c < classes; ++c) {
      sum += reinterpret_cast<const Float4*>(class_sums + c * Slice::kColumns)[i];
    }
    const auto rounded = __builtin_convertvector(sum * scale, Bf16x4);
    __builtin_memcpy(
        p.out + int64_t{row} * kValueDim + first_column + i * 4, &rounded, sizeof rounded);
  }
  if (first_column == 0 && threadIdx.x == 0 && p.lse != nullptr) {
    p.lse[row] = total > 0 ? max + log2_approx(total) * static_cast<float>(kLn2) : -INFINITY;
  }
}

}  // namespace mla::gpu

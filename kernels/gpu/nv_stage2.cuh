// SPDX-License-Identifier: MIT
// Stage 2 on NVIDIA: one workgroup per output row and slice of the head dimension. The splits are
// dealt over up to sixteen classes whose sums are added in a fixed order, so that the number of
// warps, which walk the classes, changes no bit.
//
// At batch 1 this kernel is latency and nothing else: one round of loads, one exchange, few
// instructions, and those in the cache before they are needed.
#pragma once

#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/gpu/nv_shares.cuh"
#include "kernels/stage2.h"
#include "kernels/wide_layout.h"

namespace mla::gpu {

inline constexpr int kMaxStage2Warps = 16;
inline constexpr int kMaxClasses = 16;
inline constexpr int kStage2Resident = 2;  // of the largest workgroups on an SM, by their registers
inline constexpr int kDryWorkgroups = 256;  // about the first wave; the others find warm code

// What stage 2 knows of the launch that it follows.
struct Stage1Launch {
  int32_t workgroups;   // of a persistent stage 1
  int32_t resident;     // workgroups that leave no room beside them on the device
  int32_t place_warps;  // warps of stage 2 that have room in the place of one of those
};

// Classes without a split would only take shared memory, and with it workgroups from the SM.
constexpr int merge_classes(int splits) {
  return splits < kMaxClasses ? splits : kMaxClasses;
}

constexpr int merge_local_bytes(int splits, int stage2_tiles) {
  return merge_classes(splits) * (kValueDim / stage2_tiles + 1) * 4 + splits * 4;
}

// The greatest of lse[0..splits), the same in every lane.
__device__ inline float greatest(const float* lse, int splits) {
  constexpr int kLoads = 4;  // in flight
  float max = -INFINITY;
#pragma unroll 1
  for (int first = threadIdx.x % 32; first < splits; first += 32 * kLoads) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int s = first + 32 * i;
      max = fmaxf(max, s < splits ? lse[s] : -INFINITY);
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) max = fmaxf(max, __shfl_xor_sync(~0u, max, step));
  return max;
}

// A lane's columns of the partial results of one class: splits c, c + classes, ...
template <int kColumns>
struct ClassReader {
  static constexpr int kWidth = kColumns >= 128 ? 4 : 2;  // columns a load
  static constexpr int kLoads = kColumns / 32 / kWidth;
  // Splits in flight: 8 of each class, 128 in all, up to 128 columns; else what 16 registers hold,
  // since wide slices come with many rows and need workgroups beside each other.
  static constexpr int kBatch = kLoads == 1 ? 8 : 4 / kLoads;
  struct alignas(4 * kWidth) Vector {
    float value[kWidth];
  };

  const Vector* columns;  // of split 0
  int splits;
  int classes;
  Vector part[kBatch][kLoads];

  __device__ ClassReader(const float* slice, int split_count, int class_count)
      : columns(reinterpret_cast<const Vector*>(slice) + threadIdx.x % 32),
        splits(split_count),
        classes(class_count) {}

  // From split s on. Past the L1, which may hold what a dry pass read.
  __device__ void load(int s) {
    const Vector* source = columns + int64_t{s} * (kValueDim / kWidth);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        if (s + b * classes < splits) load_past_l1(source + i * 32, &part[b][i]);
      }
      source += classes * (kValueDim / kWidth);
    }
  }

  // sum += weight * part, and the weights themselves. A split that saw no row left its partial
  // result unwritten: its weight is 0.
  __device__ void add(
      int s, const float* lse, float max, Vector (&sum)[kLoads], float* weight_sum) const {
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int split = s + b * classes;
      const float weight = split < splits ? __expf(lse[split] - max) : 0;
      if (!(weight > 0)) continue;  // also the NaN of a row without any split
      *weight_sum += weight;
#pragma unroll
      for (int i = 0; i < kLoads * kWidth; ++i) {
        sum[i / kWidth].value[i % kWidth] += weight * part[b][i / kWidth].value[i % kWidth];
      }
    }
  }

 private:
  __device__ static void load_past_l1(const Vector* source, Vector* target) {
    if constexpr (kWidth == 4) {
      *reinterpret_cast<float4*>(target) = __ldcg(reinterpret_cast<const float4*>(source));
    } else {
      *reinterpret_cast<float2*>(target) = __ldcg(reinterpret_cast<const float2*>(source));
    }
  }
};

// The parts of the workgroup's shared memory.
struct MergeScratch {
  float* class_sums;     // [classes][columns]
  float* class_weights;  // [classes]
  float* lse;            // [splits]
};

// Fills the sums and weights of all classes; returns the greatest LSE.
template <int kColumns>
__device__ float sum_classes(const float* row_lse,
                             ClassReader<kColumns>& reader,
                             const MergeScratch& scratch) {
  using Reader = ClassReader<kColumns>;
  using Vector = typename Reader::Vector;
  const int thread = threadIdx.x, warp = thread / 32, warps = blockDim.x / 32;
  const int splits = reader.splits;
  const float first_lse = thread < splits ? __ldcg(row_lse + thread) : 0;
  reader.load(warp);  // on its way while the weights are worked out
  for (int s = thread; s < splits; s += blockDim.x) {
    scratch.lse[s] = s == thread ? first_lse : __ldcg(row_lse + s);
  }
  __syncthreads();
  const float max = greatest(scratch.lse, splits);
  for (int c = warp; c < reader.classes; c += warps) {
    Vector sum[Reader::kLoads] = {};
    float weight_sum = 0;
    for (int s = c; s < splits; s += reader.classes * Reader::kBatch) {
      if (s != warp) reader.load(s);
      reader.add(s, scratch.lse, max, sum, &weight_sum);
    }
    auto* target = reinterpret_cast<Vector*>(scratch.class_sums + c * kColumns);
#pragma unroll
    for (int i = 0; i < Reader::kLoads; ++i) target[i * 32 + thread % 32] = sum[i];
    if (thread % 32 == 0) scratch.class_weights[c] = weight_sum;
  }
  return max;
}

// The classes' sums over their weights as the row's kColumns columns from `out` on. Every LDS of
// the unrolled loops is in flight at once. `dry`: nothing is stored.
template <int kColumns>
__device__ void store_row(
    const MergeScratch& scratch, int classes, float max, uint16_t* out, float* lse, bool dry) {
  float total = 0;
#pragma unroll
  for (int c = 0; c < kMaxClasses; ++c) total += c < classes ? scratch.class_weights[c] : 0;
  const float scale = total > 0 ? __fdividef(1, total) : 0;
  for (int pair = threadIdx.x; pair < kColumns / 2; pair += blockDim.x) {
    float2 sum = {};
#pragma unroll
    for (int c = 0; c < kMaxClasses; ++c) {
      const auto* part = reinterpret_cast<const float2*>(scratch.class_sums + c * kColumns) + pair;
      const float2 value = c < classes ? *part : float2{};
      sum.x += value.x;
      sum.y += value.y;
    }
    if (!dry) reinterpret_cast<uint32_t*>(out)[pair] = pack_bf16(sum.x * scale, sum.y * scale);
  }
  if (!dry && threadIdx.x == 0 && lse != nullptr) {
    *lse = total > 0 ? max + logf(total) : -INFINITY;
  }
}

// Workgroups of a uniform stage 1 that had work, if all requests are as long as this one.
__device__ inline int32_t busy_workgroups(const DecodeParams& p,
                                          const KernelConfig& config,
                                          int32_t splits) {
  const int32_t groups = request_groups<int32_t>(query_rows<int32_t>(p), config.group_rows);
  return p.batch * groups * group_workgroups(config.group_rows) * splits;
}

// kTiles: ways the head dimension is cut.
template <int kTiles, Schedule kSchedule>
__global__ void __launch_bounds__(32 * kMaxStage2Warps, kStage2Resident)
    stage2_bh16(const DecodeParams p, const KernelConfig config, const Stage1Launch stage1) {
  constexpr int kColumns = kValueDim / kTiles;
  extern __shared__ __align__(16) float shared[];
  const int classes = merge_classes(config.splits);
  const MergeScratch scratch = {
      shared, shared + classes * kColumns, shared + classes * (kColumns + 1)};
  const auto workgroup = static_cast<int32_t>(blockIdx.x);
  const int32_t row = workgroup / kTiles;
  const int32_t first_column = workgroup % kTiles * kColumns;
  int splits;
  int32_t busy = stage1.workgroups;
  if constexpr (kSchedule == Schedule::kPersistent) {
    splits = pieces_of_row(p, config, stage1.workgroups, row);
  } else {
    const auto rows = static_cast<int32_t>(request_rows(p, row / p.nhead / p.q_len));
    splits = effective_splits<int32_t>(rows, config.splits, config.tile_n);
    busy = busy_workgroups(p, config, splits);
  }
  // Also where there is nothing to merge: this kernel must not be complete before the one that it
  // follows.
  if (splits <= 1) {
    wait_for_primary();
    return;
  }
  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
  ClassReader<kColumns> reader(partials.output(row, 0) + first_column, splits, classes);
  uint16_t* out = p.out + int64_t{row} * kValueDim + first_column;
  float* lse = first_column == 0 && p.lse != nullptr ? p.lse + row : nullptr;
  // First dry, with one split, whatever it holds: the instructions come from memory while stage 1
  // runs. A workgroup that finds no room beside that has begun at its end.
  const auto warps = static_cast<int32_t>(blockDim.x / 32);
  const int32_t beside = max(0, stage1.resident - busy) * stage1.place_warps / warps;
  const bool early = workgroup < min(kDryWorkgroups, beside);
#pragma unroll 1
  for (int pass = early ? 0 : 1; pass < 2; ++pass) {
    const bool dry = pass == 0;
    reader.splits = dry ? 1 : splits;
    if (!dry) wait_for_primary();
    const float max = sum_classes<kColumns>(partials.lse(row, 0), reader, scratch);
    __syncthreads();
    store_row<kColumns>(scratch, classes, max, out, lse, dry);
    __syncthreads();
  }
}

}  // namespace mla::gpu

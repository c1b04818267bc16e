// SPDX-License-Identifier: MIT
// The persistent schedule's shares, derived on the device from the lengths: in every launch, so
// that a captured graph may be replayed with other lengths. All functions are for whole warps.
#pragma once

#include "kernels/shares.h"

namespace mla::gpu {

// What the blocks of a launch are counted in.
struct BlockUnit {
  int32_t tile_n;
  int32_t groups;  // of a request

  __device__ BlockUnit(const DecodeParams& p, int32_t rows_per_block, int32_t group_rows)
      : tile_n(rows_per_block),
        groups(request_groups<int32_t>(query_rows<int32_t>(p), group_rows)) {}

  // Of all row groups of a request.
  __device__ int32_t request_blocks(const DecodeParams& p, int32_t request) const {
    const auto rows = static_cast<int32_t>(request_rows(p, request));
    return groups * counted_blocks<int32_t>(rows, tile_n);
  }
};

struct LengthSums {
  int32_t total = 0;    // blocks of all requests
  int32_t before = 0;   // of those before a given one
  int32_t longest = 0;  // of the longest

  __device__ void add(const LengthSums& other) {
    total += other.total;
    before += other.before;
    longest = max(longest, other.longest);
  }
};

// Over requests `first`, `first + step`, ... of each lane; the same in every lane.
__device__ inline LengthSums sum_lengths(
    const DecodeParams& p, const BlockUnit& unit, int32_t request, int32_t first, int32_t step) {
  LengthSums sums;
  for (int32_t b = first; b < p.batch; b += step) {
    const int32_t blocks = unit.request_blocks(p, b);
    sums.add({blocks, b < request ? blocks : 0, blocks});
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sums.add({__shfl_xor_sync(~0u, sums.total, distance),
              __shfl_xor_sync(~0u, sums.before, distance),
              __shfl_xor_sync(~0u, sums.longest, distance)});
  }
  return sums;
}

__device__ inline BasicShares<int32_t> shares_of(const BlockUnit& unit,
                                                 const KernelConfig& config,
                                                 const LengthSums& sums,
                                                 int32_t workgroups) {
  const int32_t longest_group = sums.longest / unit.groups;
  return make_shares<int32_t>(sums.total, longest_group, workgroups, config.splits);
}

// The pieces of a share, which is below shares.count.
__device__ inline ShareWalk<int32_t> share_walk(const DecodeParams& p,
                                                const BlockUnit& unit,
                                                const BasicShares<int32_t>& shares,
                                                int32_t share) {
  const int lane = threadIdx.x % 32;
  const int32_t block = shares.begin(share);
  int32_t begin = 0;  // of the 32 requests that are looked at
  for (int32_t first = 0;; first += 32) {
    const int32_t blocks = first + lane < p.batch ? unit.request_blocks(p, first + lane) : 0;
    int32_t end = blocks;
    for (int distance = 1; distance < 32; distance *= 2) {
      const int32_t others = __shfl_up_sync(~0u, end, distance);
      if (lane >= distance) end += others;
    }
    const unsigned behind = __ballot_sync(~0u, begin + end > block);
    if (behind != 0) {
      const int found = __ffs(behind) - 1;
      const int32_t request_begin = begin + __shfl_sync(~0u, end - blocks, found);
      return {p, unit.tile_n, unit.groups, shares, share, first + found, request_begin};
    }
    begin += __shfl_sync(~0u, end, 31);
  }
}

// Partial results of an output row; by all threads of a workgroup of stage 2. `workgroups` are
// those of stage 1.
__device__ inline int32_t pieces_of_row(const DecodeParams& p,
                                        const KernelConfig& config,
                                        int32_t workgroups,
                                        int32_t row) {
  __shared__ LengthSums warp_sums[32];
  const int32_t request = row / query_rows<int32_t>(p);
  const BlockUnit unit(p, config.tile_n, config.group_rows);
  warp_sums[threadIdx.x / 32] =
      sum_lengths(p, unit, request, threadIdx.x, static_cast<int32_t>(blockDim.x));
  __syncthreads();
  LengthSums sums;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) sums.add(warp_sums[warp]);
  const int32_t group = row % query_rows<int32_t>(p) / config.group_rows;
  const auto rows = static_cast<int32_t>(request_rows(p, request));
  const int32_t blocks = counted_blocks<int32_t>(rows, config.tile_n);
  return shares_of(unit, config, sums, workgroups).pieces(sums.before + group * blocks, blocks);
}

}  // namespace mla::gpu

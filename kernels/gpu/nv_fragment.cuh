// SPDX-License-Identifier: MIT
// What mma.sync and wgmma have in common: where a thread's elements lie in the 16 query rows of its
// warp. Four neighbouring lanes, a quad, hold two rows, and of every eight columns a pair each.
#pragma once

#include <cstdint>

namespace mla::gpu {

// A scalar of each row that this thread holds: lane / 4 and lane / 4 + 8 of the warp's.
struct FragmentRows {
  static constexpr int kCount = 2;
  float value[kCount];
  __host__ __device__ float& operator[](int i) { return value[i]; }
  __host__ __device__ const float& operator[](int i) const { return value[i]; }
};

__device__ inline int fragment_row(int i) {
  return threadIdx.x % 32 / 4 + 8 * i;
}

// Over the quad.
__device__ inline float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
  return fmaxf(value, __shfl_xor_sync(~0u, value, 2));
}
__device__ inline float quad_sum(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

// Two elements of a query row, 0 without a row.
template <bool kAligned>
__device__ inline uint32_t load_pair(const uint16_t* row, int column) {
  if (row == nullptr) return 0;
  const uint16_t* pair = row + column;
  if constexpr (kAligned) return *reinterpret_cast<const uint32_t*>(pair);
  return pair[0] | uint32_t{pair[1]} << 16;
}

// Whether the pairs of a row are not on 4 bytes. To be asked once: a test at each load would keep
// them from being in flight together.
__device__ inline bool pairs_odd(const uint16_t* row) {
  return reinterpret_cast<uintptr_t>(row) % 4 != 0;
}

// Neighbours swap pairs of two tiles of eight columns, so that the even lane has four columns of
// the first and the odd one four of the second, from swapped_column() on: half the stores.
__device__ inline float4 swap_pairs(float2 first, float2 second) {
  const bool odd = threadIdx.x % 2 != 0;
  const float2 own = odd ? second : first;
  float2 other = odd ? first : second;
  other.x = __shfl_xor_sync(~0u, other.x, 1);
  other.y = __shfl_xor_sync(~0u, other.y, 1);
  return odd ? make_float4(other.x, other.y, own.x, own.y)
             : make_float4(own.x, own.y, other.x, other.y);
}
__device__ inline int swapped_column() {
  const bool odd = threadIdx.x % 2 != 0;
  return odd * 8 + threadIdx.x % 4 / 2 * 4;
}

}  // namespace mla::gpu

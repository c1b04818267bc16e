// SPDX-License-Identifier: MIT
// The instructions of gfx942 and gfx950 that the kernels are written over: copies into LDS, exact
// waits, MFMA, LDS reads, lane exchange. What differs between the two targets is here alone.
//
// LDS is addressed by its byte offset in the workgroup's allocation, which holds no static objects.
#pragma once

#include <cstdint>

#include "kernels/amd_layout.h"
#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

using Float4 = float __attribute__((ext_vector_type(4)));
using Bf16x4 = __bf16 __attribute__((ext_vector_type(4)));
using Bf16x8 = __bf16 __attribute__((ext_vector_type(8)));

#if defined(__gfx950__)
inline constexpr bool kGfx950 = true;
#else
inline constexpr bool kGfx950 = false;
#endif

inline constexpr int kTargetLdsBytes = (kGfx950 ? 160 : 64) * 1024;

// Bytes a lane copies into LDS by one instruction.
inline constexpr int kCopyBytes = kGfx950 ? 16 : 4;

__device__ inline int lane_index() {
  return static_cast<int>(threadIdx.x % kWaveLanes);
}
// The same in all lanes, in a scalar register.
__device__ inline int wave_index() {
  return __builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x / kWaveLanes));
}

template <class T>
using LocalPointer = __attribute__((address_space(3))) T*;

template <class T>
__device__ LocalPointer<T> local_pointer(uint32_t address) {
  return reinterpret_cast<LocalPointer<T>>(address);
}

// Returns when at most `kYounger` vector memory operations of this wave are outstanding. They
// retire in the order of their issue. (The other two counters of the immediate are at their ends.)
template <int kYounger>
__device__ void wait_copies() {
  static_assert(kYounger >= 0 && kYounger < 64, "the counter has six bits");
  __builtin_amdgcn_s_waitcnt((kYounger & 15) | 7 << 4 | 15 << 8 | (kYounger >> 4) << 14);
  asm volatile("" ::: "memory");
}

// All waves of the workgroup; LDS reads and writes before it are complete. __syncthreads() would
// wait for every copy as well.
__device__ inline void barrier() {
  asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
}

// The pool behind a buffer with 32-bit offsets; reads past its end return 0.
class BufferPool {
 public:
  using Address = uint32_t;  // bytes from the pool's begin

  __device__ BufferPool(const void* pool, int64_t bytes)
      : resource_(__builtin_amdgcn_make_buffer_rsrc(
            const_cast<void*>(pool), 0, static_cast<int>(bytes), kRawFormat)) {}

  // A pool below 2^32 bytes has less than 2^24 rows: their product needs no slow multiplication.
  __device__ Address address(uint32_t row, uint32_t row_bytes, uint32_t column) const {
    constexpr uint32_t kLow24 = (1u << 24) - 1;
    return (row & kLow24) * (row_bytes & kLow24) + column;
  }

  // kCopyBytes a lane, from each lane's address + offset, to LDS: lane i's at `local` + i *
  // kCopyBytes. `offset` and `local` are the same in all lanes.
  __device__ void copy(Address address, uint32_t offset, uint32_t local) const {
    const auto lane_offset = static_cast<int>(address), wave_offset = static_cast<int>(offset);
#if defined(__gfx950__)
    __builtin_amdgcn_raw_ptr_buffer_load_lds(
        resource_, local_pointer<void>(local), 16, lane_offset, wave_offset, 0, 0);
#else
    __builtin_amdgcn_raw_ptr_buffer_load_lds(
        resource_, local_pointer<void>(local), 4, lane_offset, wave_offset, 0, 0);
#endif
  }

 private:
  static constexpr int kRawFormat = 0x00027000;  // 32-bit data without stride and swizzle
  __amdgpu_buffer_rsrc_t resource_;
};

// The pool behind 64-bit addresses.
class GlobalPool {
 public:
  using Address = uint64_t;

  __device__ GlobalPool(const void* pool, int64_t) : pool_(reinterpret_cast<uint64_t>(pool)) {}

  __device__ Address address(uint32_t row, uint32_t row_bytes, uint32_t column) const {
    return (pool_ + column) + Address{row} * row_bytes;
  }

  __device__ void copy(Address address, uint32_t offset, uint32_t local) const {
    auto* source = reinterpret_cast<__attribute__((address_space(1))) void*>(address + offset);
#if defined(__gfx950__)
    __builtin_amdgcn_global_load_lds(source, local_pointer<void>(local), 16, 0, 0);
#else
    __builtin_amdgcn_global_load_lds(source, local_pointer<void>(local), 4, 0, 0);
#endif
  }

 private:
  uint64_t pool_;
};

// One 32-bit number a lane into LDS, at `local` + 4 * lane.
__device__ inline void copy_number(const int32_t* source, uint32_t local) {
  auto* address =
      reinterpret_cast<__attribute__((address_space(1))) void*>(reinterpret_cast<uint64_t>(source));
  __builtin_amdgcn_global_load_lds(address, local_pointer<void>(local), 4, 0, 0);
}

// Products of 16 x 16 tiles. Lane l holds of A: row l % 16, of B: column l % 16, of both the
// elements 4 (l / 16).. or 8 (l / 16).. of the contraction; of D: column l % 16, rows 4 (l / 16)..
__device__ inline Float4 multiply_add16(Bf16x4 a, Bf16x4 b, Float4 c) {
  using Short4 = short __attribute__((ext_vector_type(4)));
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
      __builtin_bit_cast(Short4, a), __builtin_bit_cast(Short4, b), c, 0, 0, 0);
}
// A contraction of 32. On gfx942 as two of 16, in an order of its elements that is the same in
// both operands.
__device__ inline Float4 multiply_add32(Bf16x8 a, Bf16x8 b, Float4 c) {
#if defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
#else
  return multiply_add16(a.hi, b.hi, multiply_add16(a.lo, b.lo, c));
#endif
}

// LDS accesses of a loop with copies in flight. The compiler takes a plain access, or the builtin
// of a transposed one, for a reader of what the copies write and may put a wait for all of them
// before it. As for copies, wait_reads<n>() says how many younger ones may be outstanding (LDS
// answers in order), and arrived() keeps a value from being used before that wait.
template <int kOffset, class T>
__device__ void read_local(uint32_t address, T* value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 16);
  if constexpr (sizeof(T) == 4) {
    asm volatile("ds_read_b32 %0, %1 offset:%2" : "=v"(*value) : "v"(address), "n"(kOffset));
  } else {
    asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(*value) : "v"(address), "n"(kOffset));
  }
}
// Each 16 lanes read 4 rows of 16 elements, 4 lanes a row and 4 elements a lane; lane i gets column
// i % 16. gfx950 only.
template <int kOffset>
__device__ void read_transposed(uint32_t address, Bf16x4* value) {
  asm volatile("ds_read_b64_tr_b16 %0, %1 offset:%2" : "=v"(*value) : "v"(address), "n"(kOffset));
}
// value: of a vector instruction, not of a product, which this instruction would have to wait for.
__device__ inline void write_local(uint32_t address, Float4 value) {
  asm volatile("ds_write_b128 %0, %1" : : "v"(address), "v"(value) : "memory");
}
template <int kYounger>
__device__ void wait_reads() {
  static_assert(kYounger >= 0 && kYounger < 16, "the counter has four bits");
  asm volatile("s_waitcnt lgkmcnt(%0)" : : "n"(kYounger));
}
template <class T>
__device__ void arrived(T& value) {
  asm volatile("" : "+v"(value));
}

__device__ inline float exp2_approx(float x) {
  return __builtin_amdgcn_exp2f(x);
}
__device__ inline float log2_approx(float x) {
  return __builtin_amdgcn_logf(x);
}

__device__ inline float reciprocal_approx(float x) {
  return __builtin_amdgcn_rcpf(x);
}

// Instructions before it stay before it.
__device__ inline void keep_order() {
  __builtin_amdgcn_sched_barrier(0);
}

// The number of a step of an unrolled loop, as a type.
template <int kValue>
struct Index {
  __device__ constexpr operator int() const { return kValue; }
};

// step(Index<0>), step(Index<1>), ...: where an instruction's immediate depends on the step.
template <int kCount, int kFirst = 0, class Step>
__device__ void unrolled(const Step& step) {
  if constexpr (kFirst < kCount) {
    step(Index<kFirst>{});
    unrolled<kCount, kFirst + 1>(step);
  }
}

// Of the lane whose number differs by `mask`.
__device__ inline float other_lane(float value, int mask) {
  return __builtin_bit_cast(
      float,
      __builtin_amdgcn_ds_bpermute((lane_index() ^ mask) * 4, __builtin_bit_cast(int, value)));
}

}  // namespace mla::gpu

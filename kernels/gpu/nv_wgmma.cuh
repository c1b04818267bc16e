// SPDX-License-Identifier: MIT
// The instructions of sm_90a that the wide kernels add to nv_ptx.cuh, one function each: products
// of a warpgroup, copies of tiles of a matrix, barriers of another workgroup of the cluster.
#pragma once

#include <cstdint>

#include "kernels/gpu/nv_fragment.cuh"
#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/wide_layout.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

// ---- products: d (64 x 64, fp32) += a (64 x 16) * b (16 x 64) ----
// d[4 * t + i] of a thread is row warpgroup_row(i / 2), column 8 * t + lane % 4 * 2 +
// i % 2. Between begin_products() and wait_products() nothing else may touch d or a.

__device__ inline int warpgroup_row(int i) {
  return threadIdx.x % kWarpgroupThreads / 32 * 16 + fragment_row(i);
}

// A panel as an operand: 128-byte swizzle, 1024 bytes from eight rows to the next, and, where
// columns are what a product makes, so many from a panel to the next.
__device__ inline uint64_t panel_operand(uint32_t address) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kEightRows = uint64_t{kPanelAlignment >> 4} << 32;
  constexpr uint64_t kNextPanel = uint64_t{kPanelBytes >> 4} << 16;
  return kSwizzle128 | kEightRows | kNextPanel | (address >> 4 & 0x3fff);
}

// The same operand, of which the compiler knows nothing: it would keep those of all products of a
// loop in registers, where one addition makes each.
__device__ inline uint64_t made_anew(uint64_t operand) {
  asm volatile("" : "+l"(operand));
  return operand;
}

__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// At most kYounger groups of products stay outstanding.
template <int kYounger>
__device__ inline void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kYounger) : "memory");
}

// Keeps what the compiler does with d behind the wait before.
template <int kCount>
__device__ inline void settle(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

#define MLA_SUMS8(d, i)                                                                       \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define MLA_SUMS32(d, i) \
  MLA_SUMS8(d, i), MLA_SUMS8(d, i + 8), MLA_SUMS8(d, i + 16), MLA_SUMS8(d, i + 24)
#define MLA_SUMS128(d) MLA_SUMS32(d, 0), MLA_SUMS32(d, 32), MLA_SUMS32(d, 64), MLA_SUMS32(d, 96)
#define MLA_PRODUCT                                                         \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "                   \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

// d = (add ? d : 0) + A B^T; a, b: panels with rows of 16 columns each.
__device__ inline void multiply_panels(float (&d)[32], uint64_t a, uint64_t b, bool add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; " MLA_PRODUCT ", %32, %33, p, 1, 1, 0, 0; }"
               : MLA_SUMS32(d, 0)
               : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// The same with A in registers, as multiply_add of nv_ptx.cuh has it.
__device__ inline void multiply_panels(float (&d)[32],
                                       const uint32_t (&a)[4],
                                       uint64_t b,
                                       bool add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0; " MLA_PRODUCT
               ", {%32, %33, %34, %35}, %36, p, 1, 1, 0; }"
               : MLA_SUMS32(d, 0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

#define MLA_WIDE_PRODUCT                                                                         \
  "{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
  "%127}"

// d (64 x 256) += A B; a: a panel with rows of 16 columns, b: 16 rows of the first of four panels.
__device__ inline void multiply_values(float (&d)[128], uint64_t a, uint64_t b) {
  asm volatile(MLA_WIDE_PRODUCT ", %128, %129, p, 1, 1, 0, 1; }" : MLA_SUMS128(d) : "l"(a), "l"(b));
}

// The same with A in registers.
__device__ inline void multiply_values(float (&d)[128], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(MLA_WIDE_PRODUCT ", {%128, %129, %130, %131}, %132, p, 1, 1, 1; }"
               : MLA_SUMS128(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#undef MLA_WIDE_PRODUCT
#undef MLA_SUMS128
#undef MLA_PRODUCT
#undef MLA_SUMS32
#undef MLA_SUMS8

// ---- copies ----

// Orders accesses to shared memory by threads before those of products and of the copy engine.
__device__ inline void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Four 8x8 matrices of bf16 as products leave them; the lanes of an eighth of the warp have the
// addresses of the rows of one.
__device__ inline void store_matrices(
    uint32_t address, uint32_t m0, uint32_t m1, uint32_t m2, uint32_t m3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(m0),
               "r"(m1),
               "r"(m2),
               "r"(m3)
               : "memory");
}

__device__ inline void store_zeros(uint32_t target) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(target), "r"(0) : "memory");
}

// A box of a map of rows x columns (nv_row_map.cuh).
__device__ inline void copy_box(
    uint32_t target, const void* map, int32_t column, int32_t row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(target),
      "l"(map),
      "r"(column),
      "r"(row),
      "r"(barrier)
      : "memory");
}

// The same to the same place of both workgroups of the cluster; each one's barrier counts its
// bytes.
__device__ inline void copy_box_to_pair(
    uint32_t target, const void* map, int32_t column, int32_t row, uint32_t barrier) {
  constexpr uint16_t kBoth = 3;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
      "l"(map),
      "r"(column),
      "r"(row),
      "r"(barrier),
      "h"(kBoth)
      : "memory");
}

// At the barrier of the workgroup `rank` of the cluster that has `barrier` here. Tells that
// products have read shared memory, and orders no other access (with .cluster this would be a fence
// of 1 us).
__device__ inline void arrive_at(uint32_t barrier, int rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address(barrier, rank))
               : "memory");
}

}  // namespace mla::gpu
#endif

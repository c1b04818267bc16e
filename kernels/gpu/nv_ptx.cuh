// SPDX-License-Identifier: MIT
// The NVIDIA instructions that C++ has no words for, one function each. Shared memory is addressed
// by its 32-bit window address.
#pragma once

#include <cstdint>

namespace mla::gpu {

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- tiles: 8x8 matrices of 16-bit elements and the m16n8k16 product ----

__device__ inline void load_matrices(uint32_t address, uint32_t (&m)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(address));
}

__device__ inline void load_matrices_transposed(uint32_t address, uint32_t (&m)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(address));
}

// d += a (16 x 16) * b (16 x 8), fp32 sums.
__device__ inline void multiply_add(float (&d)[4],
                                    const uint32_t (&a)[4],
                                    uint32_t b0,
                                    uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same of f16.
__device__ inline void multiply_add_f16(float (&d)[4],
                                        const uint32_t (&a)[4],
                                        uint32_t b0,
                                        uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four fp8 e4m3 elements as f16, exactly: the lower two and the upper two.
__device__ inline void widen_fp8(uint32_t fp8, uint32_t* low, uint32_t* high) {
#if __CUDA_ARCH__ >= 890
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h; "
      "}"
      : "=r"(*low), "=r"(*high)
      : "r"(fp8));
#else
  // An element's exponent and mantissa in those of f16 are 2^-8 of it, subnormal ones too.
  const auto widen = [](uint32_t upper_bytes) {
    uint32_t halves = (upper_bytes & 0x80008000u) | (upper_bytes & 0x7F007F00u) >> 1;
    asm("mul.f16x2 %0, %0, %1;" : "+r"(halves) : "r"(0x5C005C00u));  // 2^8
    return halves;
  };
  *low = widen(__byte_perm(fp8, 0, 0x1404));
  *high = widen(__byte_perm(fp8, 0, 0x3424));
#endif
}

// Two floats as f16, rounded to nearest even; `low` is the lower half.
__device__ inline uint32_t pack_f16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// Two floats as bf16, rounded to nearest even; `low` is the lower half.
__device__ inline uint32_t pack_bf16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ inline float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// ---- barriers ----

// Among the `threads` threads that use hardware barrier `id`; 0 is __syncthreads'.
__device__ inline void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ inline void init_barrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine.
__device__ inline void fence_barrier_init() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ inline void arrive(uint32_t barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier)
               : "memory");
}

__device__ inline bool phase_done(uint32_t barrier, uint32_t parity) {
  uint32_t done;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
#endif
  return done != 0;
}

// Until the phase of that parity is complete.
__device__ inline void wait_barrier(uint32_t barrier, uint32_t parity) {
  while (!phase_done(barrier, parity)) {
  }
}

// ---- asynchronous copies from global to shared memory ----

__device__ inline void copy4_async(uint32_t target, const void* source) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(target), "l"(source) : "memory");
}

__device__ inline void copy16_async(uint32_t target, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
}

__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// At most kYounger of this thread's commit groups stay outstanding.
template <int kYounger>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kYounger) : "memory");
}

// This thread arrives at the barrier once its 16-byte copies so far are there.
__device__ inline void arrive_after_copies(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

#if __CUDA_ARCH__ >= 900
// `bytes`, a multiple of 16, by the copy engine.
__device__ inline void copy_bytes(uint32_t target,
                                  const void* source,
                                  uint32_t bytes,
                                  uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(target),
      "l"(source),
      "r"(bytes),
      "r"(barrier)
      : "memory");
}

// Arrives and announces `bytes` of bulk copies that the phase also waits for.
__device__ inline void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}

// One row of a map of rows x lines x elements of a line (nv_row_map.cuh) by the copy engine.
__device__ inline void copy_row(uint32_t target, const void* map, int32_t row, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %2, %3}], [%4];" ::"r"(target),
      "l"(map),
      "r"(0),
      "r"(row),
      "r"(barrier)
      : "memory");
}
#endif

// ---- clusters: workgroups that read each other's shared memory; of one elsewhere ----

__device__ inline int cluster_size() {
#if __CUDA_ARCH__ >= 900
  uint32_t size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return static_cast<int>(size);
#else
  return 1;
#endif
}

__device__ inline int cluster_rank() {
#if __CUDA_ARCH__ >= 900
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
#else
  return 0;
#endif
}

// All threads of the cluster that have not ended; what was written before is visible behind the
// wait. The aligned forms are undefined where the lanes of a warp are apart (PTX ISA), as those may
// be of which some skip a store: hence __syncwarp().
__device__ inline void arrive_cluster() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ inline void wait_cluster() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Where workgroup `rank` of the cluster has what lies at `address` here.
__device__ inline uint32_t cluster_address(uint32_t address, int rank) {
  uint32_t mapped = address;
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
#endif
  return mapped;
}

__device__ inline float4 load_cluster(uint32_t address) {
  float4 value = {};
#if __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(address)
               : "memory");
#endif
  return value;
}

// ---- registers: by all warps of a warpgroup (sm_90a) ----

template <int kCount>
__device__ inline void lower_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}

template <int kCount>
__device__ inline void raise_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}

// ---- programmatic dependent launch ----

// The next kernel of the stream may start once every workgroup has got here.
__device__ inline void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Until the kernel before is complete and its writes are visible.
__device__ inline void wait_for_primary() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// HIP 5's headers under a clang newer than they are: a macro that clang defined in their time, and
// the fence that their barriers call from a device library that clang no longer links. Include
// through hip_runtime.cuh.
#pragma once

#if !defined(__AMDGCN_WAVEFRONT_SIZE)
#define __AMDGCN_WAVEFRONT_SIZE 64  // of gfx9
#endif

#include <hip/hip_runtime.h>

#if defined(__HIP_DEVICE_COMPILE__)
// Only __syncthreads and the __threadfence family call it: release or acquire within a workgroup,
// sequentially consistent anywhere.
extern "C" __device__ inline __attribute__((always_inline)) void __atomic_work_item_fence(
    __cl_mem_fence_flags, __memory_order order, __memory_scope scope) {
  if (scope == __memory_scope_work_group && order == __memory_order_release) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  } else if (scope == __memory_scope_work_group && order == __memory_order_acquire) {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  } else if (scope == __memory_scope_work_group) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  } else if (scope == __memory_scope_device) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  } else {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
  }
}
#endif

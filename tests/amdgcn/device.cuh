// SPDX-License-Identifier: MIT
// What the test kernels need of HIP, from the compiler alone.
#pragma once

#define MLA_GLOBAL extern "C" __attribute__((global))
#define MLA_DEVICE __attribute__((device))
#define MLA_SHARED __attribute__((shared))
#define MLA_WORKGROUP(size) __attribute__((amdgpu_flat_work_group_size(size, size)))

namespace test_device {

MLA_DEVICE inline unsigned workgroup() {
  return __builtin_amdgcn_workgroup_id_x();
}
MLA_DEVICE inline unsigned item() {
  return __builtin_amdgcn_workitem_id_x();
}

// Local memory is visible to the workgroup behind it; copies into it that are under way stay under
// way.
MLA_DEVICE inline void barrier() {
  asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
}

}  // namespace test_device

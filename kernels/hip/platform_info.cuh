// SPDX-License-Identifier: MIT
// What the two platforms tell of a GPU in different ways. nv_info.hip and amd_info.hip, of which a
// build has one.
#pragma once

#include <string>

#include "kernels/device_info.h"
#include "kernels/hip/hip_check.cuh"

namespace mla::hip {

// 0 where the runtime does not tell.
inline int attribute(hipDeviceAttribute_t which, int ordinal) {
  int value = 0;
  return hipDeviceGetAttribute(&value, which, ordinal) == hipSuccess ? value : 0;
}

// Sets arch, XCDs, partition, local memory and last-level cache; CUs are set already. XCDs stay 0
// where they are not known.
void read_platform_info(const hipDeviceProp_t& properties, int ordinal, DeviceInfo* info);

// A version of the runtime or of its driver interface as people write it: "CUDA 13.0".
std::string version_text(int version);

// Why the runtime sees no GPU, beyond its own words; empty where nothing more is known.
std::string why_no_gpu();

}  // namespace mla::hip

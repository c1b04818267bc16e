// SPDX-License-Identifier: MIT
#include "kernels/hip/platform_info.cuh"

namespace mla::hip {

// hipDeviceProp_t has fields that this platform leaves empty, so everything is read as an
// attribute. HIP 5's headers do not pass the one of shared memory on to CUDA.
void read_platform_info(const hipDeviceProp_t&, int ordinal, DeviceInfo* info) {
  info->arch =
      "sm_" + std::to_string(10 * attribute(hipDeviceAttributeComputeCapabilityMajor, ordinal) +
                             attribute(hipDeviceAttributeComputeCapabilityMinor, ordinal));
  int bytes = 0;
  if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal) ==
      cudaSuccess) {
    info->local_memory_bytes = bytes;
  }
  info->last_level_cache_bytes = attribute(hipDeviceAttributeL2CacheSize, ordinal);
}

// 13000 is 13.0 (CUDA's cudaRuntimeGetVersion).
std::string version_text(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string why_no_gpu() {
  return "";
}

}  // namespace mla::hip

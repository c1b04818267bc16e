// SPDX-License-Identifier: MIT
#include <unistd.h>

#include "kernels/hip/platform_info.cuh"
#include "kernels/known_devices.h"

namespace mla::hip {

// gcnArchName: "gfx942:sramecc+:xnack-". HIP's cache size is that of one XCD's L2; what a cold run
// must empty is the Infinity Cache, which it does not tell.
void read_platform_info(const hipDeviceProp_t& properties, int ordinal, DeviceInfo* info) {
  const std::string arch = properties.gcnArchName;
  info->arch = arch.substr(0, arch.find(':'));
  info->local_memory_bytes = attribute(hipDeviceAttributeMaxSharedMemoryPerBlock, ordinal);
  info->xcds = 0;
  if (set_amd_partition(info)) return;
  const KnownDevice* kin = find_known_arch(info->arch);
  if (kin != nullptr) info->last_level_cache_bytes = kin->last_level_cache_bytes;
}

// 60342131 is 6.3.42131 (HIP_VERSION of hip_version.h).
std::string version_text(int version) {
  return "HIP " + std::to_string(version / 10000000) + "." +
         std::to_string(version / 100000 % 100) + "." + std::to_string(version % 100000);
}

std::string why_no_gpu() {
  if (access("/dev/kfd", F_OK) != 0) return "no /dev/kfd: the amdgpu driver is not loaded";
  if (access("/dev/kfd", R_OK | W_OK) != 0) {
    return "/dev/kfd may not be opened: the user has to be in its group (render)";
  }
  return "";
}

}  // namespace mla::hip

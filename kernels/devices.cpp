// SPDX-License-Identifier: MIT
// The backends of this build.
#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/hip/hip_spec.h"
#include "kernels/host/host_device.h"
#if MLA_WITH_HIP
#include "kernels/hip/hip_device.h"
#endif
#include "kernels/text.h"

namespace mla {

std::vector<DeviceListing> list_devices() {
  std::vector<DeviceListing> usable = {{"cpu", host::host_device_info({}), ""}};
#if MLA_WITH_HIP
  std::vector<DeviceListing> unusable;
  std::vector<DeviceListing> gpus;
  for (DeviceListing& gpu : hip::list_hip_devices()) {
    (gpu.info.name.empty() ? unusable : gpus).push_back(std::move(gpu));
  }
  usable.insert(usable.begin(), gpus.begin(), gpus.end());
  usable.insert(usable.end(), unusable.begin(), unusable.end());
#endif
  return usable;
}

std::unique_ptr<Device> open_device(const std::string& spec) {
  if (spec == "cpu" || spec.rfind("cpu:", 0) == 0) {
    return host::open_host_device(host::parse_host_spec(spec));
  }
  if (spec == "hip" || spec.rfind("hip:", 0) == 0) {
#if MLA_WITH_HIP
    return hip::open_hip_device(spec);
#else
    static_cast<void>(hip::parse_hip_spec(spec));
    throw Error(ErrorCode::kDevice, "device " + quoted(spec) + ": this build has no HIP backend");
#endif
  }
  throw Error(ErrorCode::kUsage, "unknown device " + quoted(spec) + "; there are cpu and hip:N");
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// GPUs through the HIP runtime as devices: "hip:0", "hip:1", ...
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/decode/launcher.h"
#include "kernels/device.h"

namespace mla::hip {

// Every GPU that the runtime sees; where there is none, one listing "hip:0" whose note says why.
std::vector<DeviceListing> list_hip_devices();

// spec: as for parse_hip_spec. Throws Error(kUsage) for another text and Error(kDevice) where there
// is no such device or the kernels do not run on it.
std::unique_ptr<Device> open_hip_device(const std::string& spec);
// The same; leaves the caller's current device as it was.
std::unique_ptr<DecodeLauncher> open_hip_launcher(const std::string& spec);

struct Gpu {
  int ordinal = 0;
  DeviceInfo info;
};

// The GPU that a spec means: what the runtime tells of it, and what the spec puts over that. Errors
// as above.
Gpu find_gpu(const std::string& spec);

}  // namespace mla::hip

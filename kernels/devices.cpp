// SPDX-License-Identifier: MIT
// The backends of this build.
#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/host/host_device.h"
#include "kernels/text.h"

namespace mla {

std::vector<DeviceListing> list_devices() {
  return {{"cpu", host::host_device_info({}), ""}};
}

std::unique_ptr<Device> open_device(const std::string& spec) {
  if (spec == "cpu" || spec.rfind("cpu:", 0) == 0) {
    return host::open_host_device(host::parse_host_spec(spec));
  }
  if (spec == "hip" || spec.rfind("hip:", 0) == 0) {
    throw Error(ErrorCode::kDevice, "device " + quoted(spec) + ": this build has no HIP backend");
  }
  throw Error(ErrorCode::kUsage, "unknown device " + quoted(spec) + "; there is cpu");
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// The backends of this build.
#include "kernels/decode/launcher.h"
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

namespace {

// A device by its spec, from the backend that the spec names.
template <class Host, class Hip>
auto open_backend(const std::string& spec, Host open_host, Hip open_hip) {
  if (spec == "cpu" || spec.rfind("cpu:", 0) == 0) return open_host(host::parse_host_spec(spec));
  if (spec == "hip" || spec.rfind("hip:", 0) == 0) return open_hip(spec);
  throw Error(ErrorCode::kUsage, "unknown device " + in_quotes(spec) + "; there are cpu and hip:N");
}

#if !MLA_WITH_HIP
template <class Opened>
std::unique_ptr<Opened> no_hip_backend(const std::string& spec) {
  static_cast<void>(hip::parse_hip_spec(spec));
  throw Error(ErrorCode::kDevice, "device " + in_quotes(spec) + ": this build has no HIP backend");
}
#endif

}  // namespace

std::unique_ptr<Device> open_device(const std::string& spec) {
#if MLA_WITH_HIP
  return open_backend(spec, host::open_host_device, hip::open_hip_device);
#else
  return open_backend(spec, host::open_host_device, no_hip_backend<Device>);
#endif
}

std::unique_ptr<DecodeLauncher> open_decode_launcher(const std::string& spec) {
#if MLA_WITH_HIP
  return open_backend(spec, host::open_host_launcher, hip::open_hip_launcher);
#else
  return open_backend(spec, host::open_host_launcher, no_hip_backend<DecodeLauncher>);
#endif
}

}  // namespace mla

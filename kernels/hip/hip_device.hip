// SPDX-License-Identifier: MIT
#include "kernels/hip/hip_device.h"

#include "kernels/hip/gpu_driver.h"
#include "kernels/hip/hip_executor.cuh"
#include "kernels/hip/hip_problem.cuh"
#include "kernels/hip/hip_roofs.h"
#include "kernels/hip/hip_spec.h"
#include "kernels/hip/platform_info.cuh"
#include "kernels/spaces.h"
#include "kernels/text.h"

namespace mla::hip {
namespace {

// Everything but the name and the memory is read as an attribute: NVIDIA's platform leaves fields
// of hipDeviceProp_t empty.
DeviceInfo read_info(const HipSpec& spec) {
  const int ordinal = spec.ordinal;
  hipDeviceProp_t properties = {};
  check(hipGetDeviceProperties(&properties, ordinal), "hip:" + std::to_string(ordinal));
  DeviceInfo info;
  info.name = properties.name;
  char pci_id[32] = "";
  if (hipDeviceGetPCIBusId(pci_id, sizeof pci_id, ordinal) == hipSuccess) info.pci_id = pci_id;
  info.compute_units = attribute(hipDeviceAttributeMultiprocessorCount, ordinal);
  info.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  read_platform_info(properties, ordinal, &info);
  apply(spec, &info);
  return info;
}

// The number of GPUs; 0 with the reason in `why`.
int count_gpus(std::string* why) {
  int count = 0;
  const hipError_t status = hipGetDeviceCount(&count);
  if (status == hipSuccess && count > 0) return count;
  static_cast<void>(hipGetLastError());
  *why = status == hipSuccess ? "no GPU is visible" : "no GPU: " + describe(status);
  const std::string more = why_no_gpu();
  if (!more.empty()) *why += " (" + more + ")";
  return 0;
}

class HipDevice : public Device {
 public:
  HipDevice(int ordinal, const DeviceInfo& info)
      : space_(make_space(info)), executor_(ordinal, info) {}

  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }

  DeviceSoftware software() const override {
    int runtime = 0, driver = 0;
    check(hipRuntimeGetVersion(&runtime), "version of the runtime");
    check(hipDriverGetVersion(&driver), "version of the driver");
    return {gpu_driver(), version_text(runtime) + " on a driver for " + version_text(driver)};
  }

  bool reads_host_pool() const override { return false; }

  std::unique_ptr<LoadedProblem> load(std::shared_ptr<const Workload> workload) override {
    return std::make_unique<HipProblem>(std::move(workload), space_, &executor_);
  }

  RoofProbes* roofs() override { return &roofs_; }

  HipExecutor& executor() { return executor_; }

 private:
  Space space_;
  HipExecutor executor_;
  HipRoofs roofs_{*this};
};

}  // namespace

HipExecutor& executor_of(Device& device) {
  auto* hip = dynamic_cast<HipDevice*>(&device);
  if (hip == nullptr) throw Error(ErrorCode::kInternal, "not a HIP device: " + device.info().name);
  return hip->executor();
}

std::vector<DeviceListing> list_hip_devices() {
  std::string why;
  const int count = count_gpus(&why);
  if (count == 0) return {{"hip:0", {}, why}};
  std::vector<DeviceListing> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    HipSpec spec;
    spec.ordinal = ordinal;
    const std::string text = "hip:" + std::to_string(ordinal);
    try {
      devices.push_back({text, read_info(spec), ""});
    } catch (const Error& error) {
      devices.push_back({text, {}, error.what()});
    }
  }
  return devices;
}

Gpu find_gpu(const std::string& text) {
  const HipSpec spec = parse_hip_spec(text);
  std::string why;
  const int count = count_gpus(&why);
  if (spec.ordinal >= count) {
    if (count > 0) why = std::to_string(count) + " GPUs are visible";
    throw Error(ErrorCode::kDevice, "device " + in_quotes(text) + ": " + why);
  }
  return {spec.ordinal, read_info(spec)};
}

std::unique_ptr<Device> open_hip_device(const std::string& spec) {
  const Gpu gpu = find_gpu(spec);
  check(hipSetDevice(gpu.ordinal), spec);
  return std::make_unique<HipDevice>(gpu.ordinal, gpu.info);
}

}  // namespace mla::hip

// SPDX-License-Identifier: MIT
#include "kernels/hip/hip_device.h"

#include "kernels/hip/hip_executor.cuh"
#include "kernels/hip/hip_problem.cuh"
#include "kernels/hip/hip_roofs.h"
#include "kernels/spaces.h"
#include "kernels/text.h"

namespace mla::hip {
namespace {

int attribute(hipDeviceAttribute_t which, int ordinal) {
  int value = 0;
  return hipDeviceGetAttribute(&value, which, ordinal) == hipSuccess ? value : 0;
}

// Shared memory a workgroup may ask for. HIP 5's headers do not pass this attribute on to CUDA.
int64_t local_memory_limit(int ordinal) {
#if defined(__HIP_PLATFORM_NVIDIA__)
  int value = 0;
  const cudaError_t status =
      cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  return status == cudaSuccess ? value : 0;
#else
  return attribute(hipDeviceAttributeMaxSharedMemoryPerBlock, ordinal);
#endif
}

class HipDevice : public Device {
 public:
  HipDevice(int ordinal, const DeviceInfo& info)
      : space_(make_space(info)), executor_(ordinal, info) {}

  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }

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

int parse_ordinal(const std::string& spec) {
  if (spec == "hip") return 0;
  int64_t ordinal = -1;
  if (spec.rfind("hip:", 0) != 0 || !parse_int(std::string_view(spec).substr(4), &ordinal) ||
      ordinal < 0 || ordinal > 1023) {
    throw Error(ErrorCode::kUsage, "device " + quoted(spec) + ": expected hip or hip:N");
  }
  return static_cast<int>(ordinal);
}

}  // namespace

// 0 where the runtime does not tell: hipDeviceProp_t has fields that this platform leaves empty, so
// everything but the name is read as an attribute.
DeviceInfo gpu_info(int ordinal) {
  hipDeviceProp_t properties = {};
  check(hipGetDeviceProperties(&properties, ordinal), "hip:" + std::to_string(ordinal));
  DeviceInfo info;
  info.name = properties.name;
  info.arch =
      "sm_" + std::to_string(10 * attribute(hipDeviceAttributeComputeCapabilityMajor, ordinal) +
                             attribute(hipDeviceAttributeComputeCapabilityMinor, ordinal));
  char pci_id[32] = "";
  if (hipDeviceGetPCIBusId(pci_id, sizeof pci_id, ordinal) == hipSuccess) info.pci_id = pci_id;
  info.compute_units = attribute(hipDeviceAttributeMultiprocessorCount, ordinal);
  info.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  info.local_memory_bytes = local_memory_limit(ordinal);
  info.last_level_cache_bytes = attribute(hipDeviceAttributeL2CacheSize, ordinal);
  return info;
}

HipExecutor& executor_of(Device& device) {
  auto* hip = dynamic_cast<HipDevice*>(&device);
  if (hip == nullptr) throw Error(ErrorCode::kInternal, "not a HIP device: " + device.info().name);
  return hip->executor();
}

std::vector<DeviceListing> list_hip_devices() {
  int count = 0;
  const hipError_t status = hipGetDeviceCount(&count);
  if (status != hipSuccess || count == 0) {
    static_cast<void>(hipGetLastError());
    return {
        {"hip:0", {}, status == hipSuccess ? "no GPU is visible" : "no GPU: " + describe(status)}};
  }
  std::vector<DeviceListing> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    const std::string spec = "hip:" + std::to_string(ordinal);
    try {
      devices.push_back({spec, gpu_info(ordinal), ""});
    } catch (const Error& error) {
      devices.push_back({spec, {}, error.what()});
    }
  }
  return devices;
}

int find_gpu(const std::string& spec) {
  const int ordinal = parse_ordinal(spec);
  int count = 0;
  const hipError_t status = hipGetDeviceCount(&count);
  if (status != hipSuccess || ordinal >= count) {
    static_cast<void>(hipGetLastError());
    throw Error(ErrorCode::kDevice,
                "device " + quoted(spec) + ": " +
                    (status != hipSuccess ? describe(status)
                                          : std::to_string(count) + " GPUs are visible"));
  }
  return ordinal;
}

std::unique_ptr<Device> open_hip_device(const std::string& spec) {
  const int ordinal = find_gpu(spec);
  check(hipSetDevice(ordinal), spec);
  return std::make_unique<HipDevice>(ordinal, gpu_info(ordinal));
}

}  // namespace mla::hip

// SPDX-License-Identifier: MIT
// The CPU as a device that is measured and as a launcher.
#pragma once

#include <memory>
#include <string>

#include "kernels/decode/launcher.h"
#include "kernels/device.h"

namespace mla::host {

struct HostOptions {
  int threads = 0;  // 0: one for each CPU of the affinity mask
  std::string isa;  // "highway" or "bf16"; empty: bf16 where the CPU has it
};

// spec: "cpu", then ":threads=N" and/or "isa=highway|bf16", separated by commas. Throws
// Error(kUsage).
HostOptions parse_host_spec(const std::string& spec);

DeviceInfo host_device_info(const HostOptions& options);

// Both throw Error(kDevice) for an instruction set that the CPU lacks.
std::unique_ptr<Device> open_host_device(const HostOptions& options);
std::unique_ptr<DecodeLauncher> open_host_launcher(const HostOptions& options);

}  // namespace mla::host

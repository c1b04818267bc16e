// SPDX-License-Identifier: MIT
// A device that runs the decode kernels. One implementation per backend (host/, later hip/); the
// tuner, the bench and the C ABI see only this.
//
// Errors: a candidate that cannot run is an Outcome. Error(kDevice) is thrown only where the device
// itself is unusable, after which the process has to be left. Not thread-safe: one thread per
// device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device_info.h"
#include "kernels/error.h"
#include "kernels/outcome.h"
#include "kernels/output_errors.h"
#include "kernels/space.h"
#include "kernels/workload.h"

namespace mla {

// One workload resident on a device, with outputs, canaries behind them, and workspace for the
// largest configuration of the space.
class LoadedProblem {
 public:
  virtual ~LoadedProblem() = default;

  virtual const Workload& workload() const = 0;

  // Poisons the outputs and the workspace (NaN), launches once and waits. Also reports a damaged
  // canary (kWrong) and, on devices with graphs, a failed capture (kNotCapturable).
  virtual Outcome run(const KernelConfig& config) = 0;

  // One launch with cold caches, by the device's own clock. Outputs are not poisoned.
  virtual TimedRun time_cold(const KernelConfig& config) = 0;

  // The output of the last run(), on the host: out [tokens, nhead, 512] bf16, lse [tokens, nhead].
  virtual void read_output(std::vector<uint16_t>* out, std::vector<float>* lse) = 0;

  // The output of the last run() stays on the device as what compare_output() compares with. False:
  // this device leaves the comparison to the host.
  virtual bool keep_output() { return false; }
  // Every element of the last run()'s output against the kept one. Throws Error(kInternal) where
  // none is kept.
  virtual OutputErrors compare_output() {
    throw Error(ErrorCode::kInternal, "compare_output: this device keeps no output");
  }
};

class RoofProbes;  // roofs.h

// What runs a device beside this program and may change its times.
struct DeviceSoftware {
  std::string driver;   // "nvidia 580.95.05"
  std::string runtime;  // "CUDA 13.0 on a driver for 13.0"
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  virtual const Space& space() const = 0;

  // Empty texts where it is the operating system's alone.
  virtual DeviceSoftware software() const { return {}; }

  // Whether load() reads the workload's rows; else they are made on the device, and the workload
  // needs no pool.
  virtual bool reads_host_pool() const { return true; }

  // Throws Error(kDevice) where the workload does not fit into memory, naming the sizes.
  virtual std::unique_ptr<LoadedProblem> load(std::shared_ptr<const Workload> workload) = 0;

  // Null where the backend has no such probes.
  virtual RoofProbes* roofs() { return nullptr; }
};

struct DeviceListing {
  std::string spec;  // what open_device takes: "cpu", "hip:0"
  DeviceInfo info;   // empty name where the device cannot be used
  std::string note;  // why it cannot be used, or what is worth knowing
};

// Every device that could be meant, usable ones first and the best of them in front.
std::vector<DeviceListing> list_devices();

// spec: "cpu", "cpu:threads=N" or "hip:N[,xcds=N][,partition=MODE]". Throws Error(kUsage) for a
// spec it cannot read and Error(kDevice) for a device that is not there.
std::unique_ptr<Device> open_device(const std::string& spec);

}  // namespace mla

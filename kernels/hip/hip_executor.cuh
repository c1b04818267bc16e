// SPDX-License-Identifier: MIT
// Runs and times work on one GPU: the stream, the events, and the buffer whose reading empties the
// caches before a cold sample.
#pragma once

#include "kernels/device.h"
#include "kernels/gpu/launch.cuh"
#include "kernels/hip/device_memory.cuh"

namespace mla::hip {

// Throws Error(kDevice) where the kernels cannot run on the device, which is the current one.
void init_launcher(int ordinal, const DeviceInfo& info, gpu::Launcher* launcher);

// What a problem has on the device.
struct ProblemMemory {
  DeviceMemory q, pool, indptr, indices, last_page_len;
  DeviceMemory out, lse, workspace;
  DeviceMemory kept_out, kept_lse, row_errors;
  DeviceMemory spike_rows, spike_bytes;
};

class HipExecutor {
 public:
  // Throws Error(kDevice) as init_launcher() does, and where memory is missing.
  HipExecutor(int ordinal, const DeviceInfo& info);

  const Stream& stream() const { return stream_; }
  const gpu::Launcher& launcher() const { return launcher_; }

  // By reading: a write would leave dirty lines whose write-back lands in the sample.
  void flush_caches();

  // Device time of one replay behind a flush; waits for it.
  double time_cold_us(const Graph& graph);

  // The largest buffers that problems have given back, so that the next one need not allocate tens
  // of gigabytes again. Empty where another problem holds them.
  void lend(ProblemMemory* memory);
  void take_back(ProblemMemory* memory);

  // Queues a kernel that reads the bytes `repeats` times.
  void read(const void* data, int64_t bytes, int repeats = 1);

 private:
  int compute_units_;
  Stream stream_;
  Event begin_, end_;
  gpu::Launcher launcher_;
  DeviceMemory flush_;
  int64_t flush_bytes_ = 0;
  DeviceMemory sink_;
  ProblemMemory spare_;
};

// Of a device that open_hip_device made; Error(kInternal) for another.
HipExecutor& executor_of(Device& device);

}  // namespace mla::hip

// SPDX-License-Identifier: MIT
// The threads of a CPU device with the scratch memory of each, and what a cold sample reads before.
// Shared by the device that is measured and the launcher behind the C ABI.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/host_kernels.h"
#include "kernels/host/thread_pool.h"
#include "kernels/workload.h"

namespace mla::host {

// isa: "highway", "bf16", or empty for bf16 where the CPU has it. Throws Error(kDevice) for one
// that it lacks.
const Kernels& find_kernels(const std::string& isa);

class Executor {
 public:
  Executor(const Kernels& kernels, int threads);

  // Both stages; returns when the output is written. Allocates nothing.
  void launch(const DecodeParams& params, const KernelConfig& config);

  // By reading: dirty lines would be written back within the sample.
  void flush_caches();

 private:
  const Kernels& kernels_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  std::optional<NanPool> flush_;
};

}  // namespace mla::host

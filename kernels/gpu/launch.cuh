// SPDX-License-Identifier: MIT
// The kernels behind one table. A launch allocates nothing, waits for nothing and may be captured.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/config.h"
#include "kernels/decode_params.h"
#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

// One compiled shape of stage 1; every other knob is read at run time.
struct Stage1Instance {
  int tile_n;
  int teams;  // of four warps
  KvDtype kv_dtype;
  int group_rows;
  const void* decode;      // the kernel of the uniform schedule
  const void* persistent;  // that of the persistent one, or null
  const void* copy_only;   // the gather of the uniform one without the products
};

class Launcher {
 public:
  // For the current device: "sm_90", "gfx942". Raises the kernels' local memory limits.
  // Returns hipErrorNoBinaryForGpu where none of the machine code fits.
  hipError_t init(const std::string& arch, size_t local_memory_bytes);

  // hipErrorInvalidValue: no instance, or KV rows that are not on 16-byte boundaries.
  hipError_t decode(const DecodeParams& params,
                    const KernelConfig& config,
                    hipStream_t stream) const;

  // Gathers the rows that decode() reads, by the uniform schedule, and does nothing else.
  hipError_t copy_only(const DecodeParams& params,
                       const KernelConfig& config,
                       hipStream_t stream) const;

 private:
  struct Platform;  // what the target's launcher keeps of the device
  std::shared_ptr<const Platform> platform_;
};

}  // namespace mla::gpu

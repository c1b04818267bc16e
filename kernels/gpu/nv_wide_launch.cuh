// SPDX-License-Identifier: MIT
// Launches of stage 1 for row groups of 64 and 128 rows.
#pragma once

#include "kernels/config.h"
#include "kernels/gpu/nv_row_map.cuh"

namespace mla::gpu {

class WideLauncher {
 public:
  // For the current device. Without machine code of sm_90a every launch is refused.
  hipError_t init();

  // hipErrorInvalidValue: no such kernel, or KV rows that are not on 16-byte boundaries.
  hipError_t launch(const RowMapEncoder& maps,
                    const DecodeParams& params,
                    const KernelConfig& config,
                    bool copy_only,
                    hipStream_t stream) const;

 private:
  bool ready_ = false;
};

}  // namespace mla::gpu

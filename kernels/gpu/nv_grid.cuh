// SPDX-License-Identifier: MIT
// A launch of one of this platform's kernels, all of which have three arguments.
#pragma once

#include <array>

#include "kernels/config.h"
#include "kernels/decode_params.h"
#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

struct Grid {
  int64_t workgroups;
  int threads;
  int local_bytes;
  int cluster = 1;         // workgroups that read each other's shared memory
  bool dependent = false;  // may be set up while the kernel before runs
};

// `third`: the kernel's third argument.
inline hipError_t launch(const void* kernel,
                         const Grid& grid,
                         const DecodeParams& params,
                         const KernelConfig& config,
                         void* third,
                         hipStream_t stream) {
  std::array<cudaLaunchAttribute, 2> attributes = {};
  unsigned count = 0;
  if (grid.dependent) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (grid.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {static_cast<unsigned>(grid.cluster), 1, 1};
  }
  cudaLaunchConfig_t launch_config = {};
  launch_config.gridDim = dim3(static_cast<unsigned>(grid.workgroups));
  launch_config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  launch_config.dynamicSmemBytes = static_cast<size_t>(grid.local_bytes);
  launch_config.stream = stream;
  launch_config.attrs = attributes.data();
  launch_config.numAttrs = count;
  DecodeParams params_copy = params;
  KernelConfig config_copy = config;
  void* arguments[] = {&params_copy, &config_copy, third};
  return hipCUDAErrorTohipError(cudaLaunchKernelExC(&launch_config, kernel, arguments));
}

}  // namespace mla::gpu

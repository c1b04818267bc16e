// SPDX-License-Identifier: MIT
#include "kernels/gpu/amd_stage1_instances.cuh"  // generated: kStage1Instances
#include "kernels/gpu/launch.cuh"

namespace mla::gpu {
namespace {

AmdKernel find_stage1(const AmdStage1& key) {
  for (const AmdStage1Instance* instance : kStage1Instances) {
    if (instance->tile_n != key.tile_n || instance->stages != key.stages ||
        instance->wait != key.wait) {
      continue;
    }
    return key.products ? instance->decode[key.wide] : instance->copy_only[key.wide];
  }
  return nullptr;
}

hipError_t launch(AmdKernel kernel,
                  const AmdLaunch& plan,
                  const DecodeParams& params,
                  const KernelConfig& config,
                  hipStream_t stream) {
  kernel<<<dim3(static_cast<uint32_t>(plan.workgroups)),
           dim3(static_cast<uint32_t>(plan.waves * kWaveLanes)),
           static_cast<uint32_t>(plan.lds_bytes),
           stream>>>(params, config);
  return hipGetLastError();
}

hipError_t launch_stage1(const DecodeParams& params,
                         const KernelConfig& config,
                         bool products,
                         hipStream_t stream) {
  const AmdKernel kernel = find_stage1(amd_stage1(params, config, products));
  const bool aligned =
      reinterpret_cast<uintptr_t>(params.kv) % 16 == 0 && params.kv_row_stride % 8 == 0;
  if (kernel == nullptr || !aligned) return hipErrorInvalidValue;
  return launch(kernel, amd_stage1_launch(params, config), params, config, stream);
}

}  // namespace

hipError_t Launcher::init(const std::string& arch, size_t local_memory_bytes) {
  for (const AmdStage1Instance* instance : kStage1Instances) {
    const AmdLayout layout = {instance->tile_n, instance->stages};
    if (static_cast<size_t>(layout.bytes()) > local_memory_bytes) continue;
    for (const bool wide : {false, true}) {
      for (const AmdKernel kernel : {instance->decode[wide], instance->copy_only[wide]}) {
        const hipError_t status = hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                                      hipFuncAttributeMaxDynamicSharedMemorySize,
                                                      layout.bytes());
        if (status != hipSuccess) return status;
      }
    }
  }
  return hipSuccess;
}

hipError_t Launcher::decode(const DecodeParams& params,
                            const KernelConfig& config,
                            hipStream_t stream) const {
  const AmdKernel merge = stage2_kernel(config.stage2_tiles);
  if (merge == nullptr || config.stage2_warps < 1 || config.stage2_warps > kMaxMergeWaves) {
    return hipErrorInvalidValue;
  }
  if (const hipError_t status = launch_stage1(params, config, true, stream)) return status;
  const AmdLaunch plan = amd_stage2_launch(params, config);
  return plan.workgroups == 0 ? hipSuccess : launch(merge, plan, params, config, stream);
}

hipError_t Launcher::copy_only(const DecodeParams& params,
                               const KernelConfig& config,
                               hipStream_t stream) const {
  return launch_stage1(params, config, false, stream);
}

}  // namespace mla::gpu

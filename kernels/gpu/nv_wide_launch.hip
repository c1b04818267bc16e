// SPDX-License-Identifier: MIT
#include "kernels/gpu/nv_wide_launch.cuh"

#include "kernels/gpu/nv_grid.cuh"
#include "kernels/gpu/nv_stage1_wide.cuh"

namespace mla::gpu {
namespace {

struct Instance {
  int group_rows;
  Gather gather;
  const void* decode;
  const void* copy_only;
};

template <int kGroupRows, Gather kGather>
Instance instance() {
  return {kGroupRows,
          kGather,
          reinterpret_cast<const void*>(&stage1_wide<kGroupRows, kGather, true>),
          reinterpret_cast<const void*>(&stage1_wide<kGroupRows, kGather, false>)};
}

const Instance kInstances[] = {instance<64, Gather::kTiles>(),
                               instance<64, Gather::kRows>(),
                               instance<128, Gather::kTiles>(),
                               instance<128, Gather::kRows>()};

const Instance* find(const DecodeParams& params, const KernelConfig& config) {
  const Gather gather = params.page_size % kWideTileN == 0 ? Gather::kTiles : Gather::kRows;
  for (const Instance& instance : kInstances) {
    if (instance.group_rows == config.group_rows && instance.gather == gather) return &instance;
  }
  return nullptr;
}

bool fits(const DecodeParams& params, const KernelConfig& config) {
  return params.kv_dtype == KvDtype::kBf16 && reinterpret_cast<uintptr_t>(params.kv) % 16 == 0 &&
         params.kv_row_stride % 8 == 0 && config.tile_n == kWideTileN &&
         config.schedule == Schedule::kUniform && config.stage1_warps == kWideConsumerWarps;
}

}  // namespace

hipError_t WideLauncher::init() {
  constexpr int kWarpgroupPtx = 90;  // what an older target leaves is an empty kernel
  for (const Instance& instance : kInstances) {
    for (const void* kernel : {instance.decode, instance.copy_only}) {
      cudaFuncAttributes attributes = {};
      cudaError_t status = cudaFuncGetAttributes(&attributes, kernel);
      if (status != cudaSuccess) return hipCUDAErrorTohipError(status);
      ready_ = attributes.ptxVersion == kWarpgroupPtx;
      if (!ready_) return hipSuccess;
      status = cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, WideLayout::bytes());
      if (status != cudaSuccess) return hipCUDAErrorTohipError(status);
    }
  }
  return hipSuccess;
}

hipError_t WideLauncher::launch(const RowMapEncoder& maps,
                                const DecodeParams& params,
                                const KernelConfig& config,
                                bool copy_only,
                                hipStream_t stream) const {
  const Instance* instance = find(params, config);
  if (!ready_ || instance == nullptr || !fits(params, config)) return hipErrorInvalidValue;
  const int workgroups = group_workgroups(config.group_rows);
  RowMap tiles = {};
  if (instance->gather == Gather::kTiles) {
    if (const hipError_t status = maps.encode_panels(params, kWideTileN / workgroups, &tiles))
      return status;
  }
  const Grid grid = {
      stage1_items(params, config) * workgroups, kWideThreads, WideLayout::bytes(), workgroups};
  return gpu::launch(
      copy_only ? instance->copy_only : instance->decode, grid, params, config, &tiles, stream);
}

}  // namespace mla::gpu

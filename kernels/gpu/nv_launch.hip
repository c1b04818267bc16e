// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>

#include "kernels/bh16_layout.h"
#include "kernels/gpu/launch.cuh"
#include "kernels/gpu/nv_grid.cuh"
#include "kernels/gpu/nv_row_map.cuh"
#include "kernels/gpu/nv_stage2.cuh"
#include "kernels/gpu/nv_wide_launch.cuh"
#include "kernels/gpu/stage1_instances.cuh"  // generated: kStage1Instances
#include "kernels/wide_layout.h"

namespace mla::gpu {
namespace {

using Stage2Kernel = void (*)(DecodeParams, KernelConfig, Stage1Launch);

template <Schedule kSchedule>
Stage2Kernel stage2_kernel(int tiles) {
  switch (tiles) {
    case 1:
      return stage2_bh16<1, kSchedule>;
    case 2:
      return stage2_bh16<2, kSchedule>;
    case 4:
      return stage2_bh16<4, kSchedule>;
    case 8:
      return stage2_bh16<8, kSchedule>;
    default:
      return nullptr;
  }
}

const Stage1Instance* find_stage1(const DecodeParams& params, const KernelConfig& config) {
  for (const Stage1Instance* instance : kStage1Instances) {
    if (instance->kv_dtype == params.kv_dtype && instance->tile_n == config.tile_n &&
        instance->group_rows == config.group_rows &&
        instance->teams * kWarpsPerTeam == config.stage1_warps) {
      return instance;
    }
  }
  return nullptr;
}

hipError_t launch_stage1(const Stage1Instance& instance,
                         const void* kernel,
                         int64_t workgroups,
                         int cluster,
                         const RowMapEncoder& row_maps,
                         const DecodeParams& params,
                         const KernelConfig& config,
                         hipStream_t stream) {
  const Bh16Layout layout = {
      instance.tile_n, instance.teams, config.stages, instance.kv_dtype, instance.group_rows};
  const bool fp8 = instance.kv_dtype == KvDtype::kFp8;
  const bool aligned = reinterpret_cast<uintptr_t>(params.kv) % 16 == 0 &&
                       params.kv_row_stride % (fp8 ? 16 : 8) == 0;
  const bool staged = config.stages >= 2 && config.stages <= kMaxStages;
  if (kernel == nullptr || !staged || !aligned) return hipErrorInvalidValue;
  const Grid grid = {workgroups, layout.threads(), layout.bytes(), cluster};
  RowMap rows = {};
  if (row_maps.ready() && !fp8) {
    if (const hipError_t status = row_maps.encode(params, &rows)) return status;
  }
  return launch(kernel, grid, params, config, &rows, stream);
}

}  // namespace

// sm_90 and later have row maps, dependent launches and clusters.
struct Launcher::Platform {
  int compute_units = 0;
  bool hopper = false;
  RowMapEncoder row_maps;
  WideLauncher wide;
};

hipError_t Launcher::init(const std::string& arch, size_t local_memory_bytes) {
  constexpr size_t kPrefix = 3;  // "sm_"
  auto platform = std::make_shared<Platform>();
  platform->hopper = std::stoi(arch.substr(kPrefix)) >= 90;
  if (platform->hopper) {
    if (const hipError_t status = platform->row_maps.init()) return status;
    if (const hipError_t status = platform->wide.init()) return status;
  }
  int device = 0;
  if (const hipError_t status = hipGetDevice(&device)) return status;
  if (const hipError_t status = hipDeviceGetAttribute(
          &platform->compute_units, hipDeviceAttributeMultiprocessorCount, device))
    return status;
  for (const Stage1Instance* instance : kStage1Instances) {
    for (const void* kernel : {instance->decode, instance->persistent, instance->copy_only}) {
      if (kernel == nullptr) continue;
      const cudaError_t status = cudaFuncSetAttribute(kernel,
                                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                      static_cast<int>(local_memory_bytes));
      if (status != cudaSuccess) return hipCUDAErrorTohipError(status);
    }
  }
  platform_ = std::move(platform);
  return hipSuccess;
}

hipError_t Launcher::decode(const DecodeParams& params,
                            const KernelConfig& config,
                            hipStream_t stream) const {
  const bool persistent = config.schedule == Schedule::kPersistent;
  const Stage2Kernel merge = persistent ? stage2_kernel<Schedule::kPersistent>(config.stage2_tiles)
                                        : stage2_kernel<Schedule::kUniform>(config.stage2_tiles);
  if (merge == nullptr || config.stage2_warps < 1) return hipErrorInvalidValue;
  int64_t workgroups = 0;
  if (is_wide(config.group_rows)) {
    if (const hipError_t status =
            platform_->wide.launch(platform_->row_maps, params, config, false, stream))
      return status;
  } else {
    const Stage1Instance* instance = find_stage1(params, config);
    if (instance == nullptr || (persistent && config.splits < 2)) return hipErrorInvalidValue;
    if (!persistent && config.splits == 2 && platform_->hopper) {
      // A request's two workgroups merge by themselves; in split-major order they are neighbours.
      KernelConfig paired = config;
      paired.order = Order::kSplitMajor;
      return launch_stage1(*instance,
                           instance->decode,
                           stage1_items(params, paired),
                           2,
                           platform_->row_maps,
                           params,
                           paired,
                           stream);
    }
    workgroups = persistent ? persistent_workgroups(platform_->compute_units, config)
                            : stage1_items(params, config);
    if (const hipError_t status =
            launch_stage1(*instance,
                          persistent ? instance->persistent : instance->decode,
                          workgroups,
                          1,
                          platform_->row_maps,
                          params,
                          config,
                          stream))
      return status;
  }
  const int64_t items = stage2_items(params, config);
  if (items == 0) return hipSuccess;
  const Grid grid = {items,
                     32 * config.stage2_warps,
                     merge_local_bytes(config.splits, config.stage2_tiles),
                     1,
                     platform_->hopper};
  const int64_t units = platform_->compute_units;
  const int64_t resident = std::max(units, persistent_workgroups(units, config));
  Stage1Launch stage1 = {
      static_cast<int32_t>(workgroups),
      static_cast<int32_t>(resident),
      static_cast<int32_t>(kStage2Resident * kMaxStage2Warps * units / resident)};
  return launch(reinterpret_cast<const void*>(merge), grid, params, config, &stage1, stream);
}

hipError_t Launcher::copy_only(const DecodeParams& params,
                               const KernelConfig& config,
                               hipStream_t stream) const {
  if (is_wide(config.group_rows))
    return platform_->wide.launch(platform_->row_maps, params, config, true, stream);
  const Stage1Instance* instance = find_stage1(params, config);
  if (instance == nullptr) return hipErrorInvalidValue;
  return launch_stage1(*instance,
                       instance->copy_only,
                       stage1_items(params, config),
                       1,
                       platform_->row_maps,
                       params,
                       config,
                       stream);
}

}  // namespace mla::gpu

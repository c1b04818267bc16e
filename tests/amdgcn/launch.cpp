// SPDX-License-Identifier: MIT
// Sources: LLVM's AMDGPU usage guide, sections on the kernel descriptor, initial kernel execution
// state and code object version 5 metadata.
#include "tests/amdgcn/launch.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

int64_t field(const Kernel& kernel, const std::string& name) {
  const auto found = kernel.descriptor.find(name);
  return found == kernel.descriptor.end() ? 0 : found->second;
}

uint64_t hidden_value(const std::string& kind, const Launch& launch) {
  const std::map<std::string, uint64_t> values = {
      {"hidden_block_count_x", launch.grid.x},
      {"hidden_block_count_y", launch.grid.y},
      {"hidden_block_count_z", launch.grid.z},
      {"hidden_group_size_x", launch.block.x},
      {"hidden_group_size_y", launch.block.y},
      {"hidden_group_size_z", launch.block.z},
      {"hidden_remainder_x", 0},
      {"hidden_remainder_y", 0},
      {"hidden_remainder_z", 0},
      {"hidden_global_offset_x", 0},
      {"hidden_global_offset_y", 0},
      {"hidden_global_offset_z", 0},
      {"hidden_grid_dims",
       launch.grid.z > 1 || launch.block.z > 1   ? 3u
       : launch.grid.y > 1 || launch.block.y > 1 ? 2u
                                                 : 1u},
      {"hidden_dynamic_lds_size", launch.dynamic_lds_bytes},
      {"hidden_none", 0},
  };
  const auto found = values.find(kind);
  if (found == values.end())
    throw Error(ErrorCode::kUsage, "unsupported kernel argument " + in_quotes(kind));
  return found->second;
}

size_t lds_limit_bytes(const std::string& target) {
  return target == "gfx950" ? 160 * 1024 : 64 * 1024;
}

}  // namespace

void check_launch(const CodeObject& code_object, const Kernel& kernel, const Launch& launch) {
  const KernelMetadata& metadata = kernel.metadata;
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kUsage, metadata.name + ": " + what);
  };
  if (metadata.vgpr_spills + metadata.sgpr_spills > 0) refuse("spills registers");
  if (metadata.private_segment_bytes > 0 || field(kernel, "enable_private_segment") != 0) {
    refuse("uses scratch memory");
  }
  if (field(kernel, "user_sgpr_kernarg_preload_length") != 0) refuse("preloads arguments");
  if (launch.block.count() == 0 ||
      launch.block.count() > static_cast<uint32_t>(metadata.max_workgroup_size)) {
    refuse(fmt::format(
        "a workgroup of {} where {} fit", launch.block.count(), metadata.max_workgroup_size));
  }
  const size_t needed_bytes = lds_bytes(kernel, launch);
  if (needed_bytes > lds_limit_bytes(code_object.target)) {
    refuse(fmt::format("{} bytes of LDS where {} has {}",
                       needed_bytes,
                       code_object.target,
                       lds_limit_bytes(code_object.target)));
  }
  if (launch.arguments_bytes > static_cast<size_t>(metadata.kernarg_bytes))
    refuse("too many arguments");
}

size_t lds_bytes(const Kernel& kernel, const Launch& launch) {
  return static_cast<size_t>(kernel.metadata.static_lds_bytes) + launch.dynamic_lds_bytes;
}

std::vector<std::byte> kernel_arguments(const Kernel& kernel, const Launch& launch) {
  std::vector<std::byte> segment(static_cast<size_t>(kernel.metadata.kernarg_bytes));
  if (launch.arguments_bytes > 0)
    std::memcpy(segment.data(), launch.arguments, launch.arguments_bytes);
  for (const KernelArgument& argument : kernel.metadata.arguments) {
    if (argument.is_hidden()) {
      const uint64_t value = hidden_value(argument.value_kind, launch);
      std::memcpy(
          segment.data() + argument.offset_bytes, &value, static_cast<size_t>(argument.size_bytes));
    } else if (static_cast<size_t>(argument.offset_bytes + argument.size_bytes) >
               launch.arguments_bytes) {
      throw Error(
          ErrorCode::kUsage,
          fmt::format(
              "{}: an argument at {} is missing", kernel.metadata.name, argument.offset_bytes));
    }
  }
  return segment;
}

void set_start_registers(const Kernel& kernel,
                         const Launch& launch,
                         Dim3 workgroup,
                         uint32_t index,
                         uint64_t kernarg,
                         Wave* wave) {
  // User registers come in this order, then the workgroup ids; only the argument pointer has a
  // meaning here.
  int next = 0;
  for (const char* name : {"user_sgpr_dispatch_ptr", "user_sgpr_queue_ptr"}) {
    if (field(kernel, name) != 0) next += 2;
  }
  if (field(kernel, "user_sgpr_kernarg_segment_ptr") != 0) {
    wave->set_scalar64(next, kernarg);
    next += 2;
  }
  if (field(kernel, "user_sgpr_dispatch_id") != 0) next += 2;
  if (field(kernel, "user_sgpr_private_segment_size") != 0) next += 1;
  if (field(kernel, "system_sgpr_workgroup_id_x") != 0) wave->scalars[next++] = workgroup.x;
  if (field(kernel, "system_sgpr_workgroup_id_y") != 0) wave->scalars[next++] = workgroup.y;
  if (field(kernel, "system_sgpr_workgroup_id_z") != 0) wave->scalars[next++] = workgroup.z;

  uint64_t active = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t item = index * kLanes + lane;
    if (item >= launch.block.count()) break;
    active |= uint64_t{1} << lane;
    const uint32_t x = item % launch.block.x;
    const uint32_t y = item / launch.block.x % launch.block.y;
    const uint32_t z = item / launch.block.x / launch.block.y;
    wave->vectors[0][lane] = x | y << 10 | z << 20;
  }
  wave->set_scalar64(kExecRegister, active);
}

}  // namespace mla::amdgcn

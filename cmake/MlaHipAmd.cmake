# HIP on AMD: one program with host code and device code for all of MLA_AMDGPU_TARGETS, compiled by ROCm's clang.

# Sets `missing` to the empty string, or to what is missing for the GPU backend.
function(mla_find_hip_amd missing)
  mla_find_rocm()
  set(text "${MLA_ROCM_MISSING}")
  if(NOT text AND MLA_ROCM_MADE)
    find_program(MLA_AMDGCN_BUNDLER clang-offload-bundler-22)
    mark_as_advanced(MLA_AMDGCN_BUNDLER)
    if(NOT MLA_AMDGCN_BUNDLER)
      set(text "no clang-offload-bundler-22 (Debian: clang-tools-22)")
    endif()
  endif()
  if(NOT text AND NOT EXISTS ${MLA_ROCM_ROOT}/lib/libamdhip64.so)
    set(text "no ${MLA_ROCM_ROOT}/lib/libamdhip64.so (Debian: libamdhip64-dev)")
  endif()
  set(${missing} "${text}" PARENT_SCOPE)
  set(MLA_ROCM_ROOT ${MLA_ROCM_ROOT} PARENT_SCOPE)
  set(MLA_ROCM_MADE ${MLA_ROCM_MADE} PARENT_SCOPE)
endfunction()

function(mla_hip_amd_state result)
  list(JOIN MLA_AMDGPU_TARGETS ", " targets)
  set(rocm "ROCm in ${MLA_ROCM_ROOT}")
  if(MLA_ROCM_MADE)
    set(rocm "Debian's HIP 5.2, for emulation: a GPU needs a build against /opt/rocm")
  endif()
  set(${result} "compiled for ${targets} by ${MLA_AMDGCN_CLANG}, ${rocm}" PARENT_SCOPE)
endfunction()

macro(mla_enable_hip_amd)
  set(CMAKE_HIP_COMPILER ${MLA_AMDGCN_CLANG})
  set(CMAKE_HIP_COMPILER_ROCM_ROOT ${MLA_ROCM_ROOT})
  set(CMAKE_HIP_ARCHITECTURES ${MLA_AMDGPU_TARGETS})
  set(CMAKE_HIP_FLAGS "--rocm-path=${MLA_ROCM_ROOT}")
  set(CMAKE_HIP_STANDARD 20)
  set(CMAKE_HIP_STANDARD_REQUIRED ON)
  enable_language(HIP)
  set(MLA_HIP_RUNTIME ${MLA_ROCM_ROOT}/lib/libamdhip64.so)
endmacro()

function(mla_hip_amd_objects target)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE HIP)
  add_library(${target} OBJECT ${ARGN})
  target_compile_options(${target} PRIVATE ${MLA_AMDGCN_FLAGS})
  target_include_directories(${target} SYSTEM PRIVATE ${MLA_ROCM_ROOT}/include)
endfunction()

# The instances of stage 1, one source for each tile_n, depth of the ring and wait: every shape whose LDS fits a target.
# An instance is named as in its kernels' symbols. Those of gfx942 are the first ones.
set(MLA_AMD_INSTANCES_gfx942 n16_s2_drain n16_s2_partial n16_s3_drain n16_s3_partial)
set(MLA_AMD_INSTANCES_gfx950 ${MLA_AMD_INSTANCES_gfx942}
    n16_s4_drain n16_s4_partial n32_s2_drain n32_s2_partial n32_s3_drain n32_s3_partial n32_s4_drain n32_s4_partial
    n64_s2_drain n64_s2_partial)

# Sets `result` to the generated source of an instance.
function(mla_amd_stage1_source result instance)
  string(REGEX MATCH "^n([0-9]+)_s([0-9]+)_([a-z]+)$" INSTANCE ${instance})
  set(TILE_N ${CMAKE_MATCH_1})
  set(STAGES ${CMAKE_MATCH_2})
  set(WAIT_drain kDrain)
  set(WAIT_partial kPartial)
  set(WAIT ${WAIT_${CMAKE_MATCH_3}})
  set(source ${CMAKE_BINARY_DIR}/amd_instances/stage1_${INSTANCE}.hip)
  configure_file(${PROJECT_SOURCE_DIR}/kernels/gpu/amd_stage1_instance.hip.in ${source} @ONLY)
  set(${result} ${source} PARENT_SCOPE)
endfunction()

function(mla_hip_amd_kernels result)
  set(sources "")
  set(declarations "")
  set(entries "")
  foreach(instance ${MLA_AMD_INSTANCES_gfx950})
    mla_amd_stage1_source(source ${instance})
    list(APPEND sources ${source})
    string(APPEND declarations "extern const AmdStage1Instance kStage1_${instance};\n")
    string(APPEND entries "    &kStage1_${instance},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/gpu/generated/kernels/gpu/amd_stage1_instances.cuh CONTENT
"// SPDX-License-Identifier: MIT
// Generated from the list in cmake/MlaHipAmd.cmake.
#pragma once

#include \"kernels/gpu/amd_instances.cuh\"

namespace mla::gpu {
${declarations}
inline constexpr const AmdStage1Instance* kStage1Instances[] = {
${entries}};
}  // namespace mla::gpu
" @ONLY)
  set(${result} gpu/amd_launch.hip gpu/amd_stage2_kernels.hip hip/amd_info.hip ${sources} PARENT_SCOPE)
endfunction()

# The target amd_code_objects: stage1_INSTANCE.ARCH.co, stage2.ARCH.co and pool_kernels.ARCH.co in amdgcn/ of the current
# build folder, the program's kernels without their host part. MLA_AMD_CODE_OBJECTS lists them for every folder.
function(mla_amd_code_objects)
  set(outputs "")
  foreach(arch ${MLA_AMDGPU_TARGETS})
    foreach(instance ${MLA_AMD_INSTANCES_${arch}})
      mla_amd_stage1_source(source ${instance})
      mla_amdgcn_code_object(output NAME stage1_${instance} ARCH ${arch} SOURCE ${source})
      list(APPEND outputs ${output})
    endforeach()
    foreach(source amd_stage2_kernels pool_kernels)
      string(REGEX REPLACE "^amd_(stage2)_kernels$" "\\1" name ${source})
      mla_amdgcn_code_object(output NAME ${name} ARCH ${arch} SOURCE gpu/${source}.hip)
      list(APPEND outputs ${output})
    endforeach()
  endforeach()
  add_custom_target(amd_code_objects DEPENDS ${outputs})
  set(MLA_AMD_CODE_OBJECTS ${outputs} CACHE INTERNAL "amdgcn code objects of the program's kernels")
endfunction()

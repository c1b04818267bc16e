# The GPU backend: HIP sources compiled by nvcc through HIP's NVIDIA platform, when both are found.
# mla_add_hip(target) puts it into a target; MLA_WITH_HIP says whether this build has it.
set(MLA_HIP_PLATFORM auto CACHE STRING "GPU backend: auto, nvidia (HIP over nvcc), amd or off")
set_property(CACHE MLA_HIP_PLATFORM PROPERTY STRINGS auto nvidia amd off)
set(MLA_CUDA_ARCHITECTURES "80;90a-real" CACHE STRING "GPU architectures, as for CMAKE_CUDA_ARCHITECTURES")

# Sets `result` to the empty string, or to what is missing for HIP over nvcc.
function(mla_find_hip_nvidia result)
  find_program(MLA_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  find_path(MLA_HIP_INCLUDE hip/hip_version.h HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES include)
  set(missing "")
  if(NOT MLA_NVCC)
    set(missing "no nvcc")
  elseif(NOT MLA_HIP_INCLUDE)
    set(missing "no HIP headers (Debian: libamdhip64-dev)")
  endif()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

set(MLA_WITH_HIP OFF)
if(MLA_HIP_PLATFORM STREQUAL "amd")
  message(FATAL_ERROR "MLA_HIP_PLATFORM=amd: the kernels for amdgcn are not part of this version; use nvidia or off")
elseif(MLA_HIP_PLATFORM STREQUAL "auto" AND MLA_SANITIZE_FLAGS)
  set(mla_hip_state "off (a sanitizer build; MLA_HIP_PLATFORM=nvidia forces it)")
elseif(MLA_HIP_PLATFORM MATCHES "^(auto|nvidia)$")
  mla_find_hip_nvidia(mla_hip_missing)
  if(NOT mla_hip_missing)
    set(MLA_WITH_HIP ON)
    list(TRANSFORM MLA_CUDA_ARCHITECTURES REPLACE "-real|-virtual" "" OUTPUT_VARIABLE mla_hip_state)
    list(TRANSFORM mla_hip_state PREPEND "sm_")
    list(JOIN mla_hip_state ", " mla_hip_state)
    set(mla_hip_state "compiled for ${mla_hip_state} by ${MLA_NVCC}, HIP headers in ${MLA_HIP_INCLUDE}")
  elseif(MLA_HIP_PLATFORM STREQUAL "nvidia")
    message(FATAL_ERROR "MLA_HIP_PLATFORM=nvidia: ${mla_hip_missing}")
  else()
    set(mla_hip_state "not compiled: ${mla_hip_missing}")
  endif()
elseif(MLA_HIP_PLATFORM STREQUAL "off")
  set(mla_hip_state "off")
else()
  message(FATAL_ERROR "MLA_HIP_PLATFORM: '${MLA_HIP_PLATFORM}' is none of auto, nvidia, amd, off")
endif()
message(STATUS "GPU backend: ${mla_hip_state}")
file(WRITE ${CMAKE_BINARY_DIR}/gpu_backend.txt "${mla_hip_state}\n")  # for the summary of tools/test

if(MLA_WITH_HIP)
  set(CMAKE_CUDA_COMPILER ${MLA_NVCC})
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  set(CMAKE_CUDA_ARCHITECTURES ${MLA_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  find_package(CUDAToolkit REQUIRED)
endif()

# An object library of HIP sources (.hip), compiled as the platform asks.
function(mla_hip_objects target)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  add_library(${target} OBJECT ${ARGN})
  target_compile_definitions(${target} PRIVATE __HIP_PLATFORM_NVIDIA__=1)
  # HIP's inline functions call what CUDA deprecates.
  target_compile_options(${target} PRIVATE --expt-relaxed-constexpr -lineinfo -Xcompiler=-Wno-deprecated-declarations)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${MLA_HIP_INCLUDE})
endfunction()

# The instances of stage 1, one source each, and the table of all: tile_n x teams of warps.
function(mla_stage1_instances result)
  set(sources "")
  set(declarations "")
  set(entries "")
  foreach(TILE_N 16 32 64)
    foreach(TEAMS 1 2)
      set(source ${CMAKE_CURRENT_BINARY_DIR}/gpu/nv_stage1_n${TILE_N}_teams${TEAMS}.hip)
      configure_file(gpu/nv_stage1_instance.hip.in ${source} @ONLY)
      list(APPEND sources ${source})
      string(APPEND declarations "extern const Stage1Instance kStage1N${TILE_N}Teams${TEAMS};\n")
      string(APPEND entries "    &kStage1N${TILE_N}Teams${TEAMS},\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/gpu/generated/kernels/gpu/stage1_instances.cuh CONTENT
"// SPDX-License-Identifier: MIT
// Generated from the list in cmake/MlaHip.cmake.
#pragma once

#include \"kernels/gpu/launch.cuh\"

namespace mla::gpu {
${declarations}
inline constexpr const Stage1Instance* kStage1Instances[] = {
${entries}};
}  // namespace mla::gpu
" @ONLY)
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# Puts the backend into `target`, to be called in kernels/.
function(mla_add_hip target)
  mla_stage1_instances(instances)
  mla_hip_objects(mla_hip
    gpu/nv_launch.hip gpu/nv_row_map.hip gpu/pool_kernels.hip hip/hip_device.hip hip/hip_executor.hip hip/hip_problem.hip
    hip/hip_roofs.hip hip/probes.hip ${instances})
  target_include_directories(mla_hip PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/gpu/generated)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:mla_hip>)
  target_compile_definitions(${target} PRIVATE MLA_WITH_HIP=1)
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
endfunction()

# HIP over nvcc: HIP's headers and the CUDA toolkit.
# Machine code alone: what an older target's PTX becomes on a newer GPU lacks the instructions that the launches count on
# there (clusters, dependent launches, warpgroups), and would leave outputs unwritten.
set(MLA_CUDA_ARCHITECTURES "80-real;90a-real" CACHE STRING "GPU architectures: 80-real to 89-real, 90a-real")

# Sets `missing` to the empty string, or to what is missing for HIP over nvcc.
function(mla_find_hip_nvidia missing)
  find_program(MLA_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  find_path(MLA_HIP_INCLUDE hip/hip_version.h HINTS ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES include)
  set(${missing} "" PARENT_SCOPE)
  if(NOT MLA_NVCC)
    set(${missing} "no nvcc" PARENT_SCOPE)
  elseif(NOT MLA_HIP_INCLUDE)
    set(${missing} "no HIP headers (Debian: libamdhip64-dev)" PARENT_SCOPE)
  endif()
endfunction()

function(mla_hip_nvidia_state result)
  list(TRANSFORM MLA_CUDA_ARCHITECTURES REPLACE "-real" "" OUTPUT_VARIABLE targets)
  list(TRANSFORM targets PREPEND "sm_")
  list(JOIN targets ", " targets)
  set(${result} "compiled for ${targets} by ${MLA_NVCC}, HIP headers in ${MLA_HIP_INCLUDE}" PARENT_SCOPE)
endfunction()

macro(mla_enable_hip_nvidia)
  foreach(architecture IN LISTS MLA_CUDA_ARCHITECTURES)
    if(NOT architecture MATCHES "^(8[0-9]|90a)-real$")
      message(FATAL_ERROR "MLA_CUDA_ARCHITECTURES: ${architecture} is none of 80-real to 89-real and 90a-real")
    endif()
  endforeach()
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
  set(MLA_HIP_RUNTIME CUDA::cudart_static)
endmacro()

function(mla_hip_nvidia_objects target)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  add_library(${target} OBJECT ${ARGN})
  target_compile_definitions(${target} PRIVATE __HIP_PLATFORM_NVIDIA__=1)
  # HIP's inline functions call what CUDA deprecates.
  target_compile_options(${target} PRIVATE --expt-relaxed-constexpr -lineinfo -Xcompiler=-Wno-deprecated-declarations)
  target_include_directories(${target} SYSTEM PRIVATE ${MLA_HIP_INCLUDE})
endfunction()

# The instances of stage 1, one source each, and the table of all: dtype of the rows x tile_n x teams of warps x rows of
# a group.
function(mla_hip_nvidia_kernels result)
  set(sources gpu/nv_launch.hip gpu/nv_row_map.hip gpu/nv_wide_launch.hip hip/nv_info.hip)
  set(declarations "")
  set(entries "")
  set(shapes 16:1:16 16:2:16 32:1:16 32:2:16 64:1:16 64:2:16)
  set(Bh16Tile_shapes ${shapes} 16:2:32 32:2:32 64:2:32)
  set(Bh16Fp8Tile_shapes ${shapes})
  set(Bh16Fp8LeanTile_shapes 16:3:16 32:3:16)
  foreach(TILE Bh16Tile Bh16Fp8Tile Bh16Fp8LeanTile)
    foreach(shape ${${TILE}_shapes})
      string(REPLACE ":" ";" shape ${shape})
      list(GET shape 0 TILE_N)
      list(GET shape 1 TEAMS)
      list(GET shape 2 GROUP_ROWS)
      set(INSTANCE ${TILE}N${TILE_N}Teams${TEAMS}Rows${GROUP_ROWS})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/gpu/nv_stage1_${INSTANCE}.hip)
      configure_file(gpu/nv_stage1_instance.hip.in ${source} @ONLY)
      list(APPEND sources ${source})
      string(APPEND declarations "extern const Stage1Instance k${INSTANCE};\n")
      string(APPEND entries "    &k${INSTANCE},\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/gpu/generated/kernels/gpu/stage1_instances.cuh CONTENT
"// SPDX-License-Identifier: MIT
// Generated from the list in cmake/MlaHipNvidia.cmake.
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

# The GPU backend: HIP sources, compiled by nvcc through HIP's NVIDIA platform or by ROCm's clang for AMD.
# mla_add_hip(target) puts it into a target; MLA_WITH_HIP says whether this build has it, MLA_HIP_PLATFORM_FOUND which.
#
# auto takes nvidia where there are nvcc and HIP's headers, else amd where ROCm is installed. Debian's packages alone do
# not make it amd: what they build starts everywhere, but its runtime knows no current GPU.
set(MLA_HIP_PLATFORM auto CACHE STRING "GPU backend: auto, nvidia (HIP over nvcc), amd or off")
set_property(CACHE MLA_HIP_PLATFORM PROPERTY STRINGS auto nvidia amd off)
include(cmake/MlaHipNvidia.cmake)
include(cmake/MlaHipAmd.cmake)

set(MLA_WITH_HIP OFF)
set(MLA_HIP_PLATFORM_FOUND "")
if(NOT MLA_HIP_PLATFORM MATCHES "^(auto|nvidia|amd|off)$")
  message(FATAL_ERROR "MLA_HIP_PLATFORM: '${MLA_HIP_PLATFORM}' is none of auto, nvidia, amd, off")
elseif(MLA_HIP_PLATFORM STREQUAL "off")
  set(mla_hip_state "off")
elseif(MLA_HIP_PLATFORM STREQUAL "auto" AND MLA_SANITIZE_FLAGS)
  set(mla_hip_state "off (a sanitizer build; MLA_HIP_PLATFORM=nvidia or amd forces it)")
elseif(MLA_HIP_PLATFORM STREQUAL "auto")
  mla_find_hip_nvidia(mla_no_nvidia)
  mla_installed_rocm(mla_rocm)
  if(NOT mla_no_nvidia)
    set(MLA_HIP_PLATFORM_FOUND nvidia)
  elseif(mla_rocm)
    set(MLA_HIP_PLATFORM_FOUND amd)
  else()
    set(mla_hip_state "not compiled: ${mla_no_nvidia}, no /opt/rocm")
  endif()
else()
  set(MLA_HIP_PLATFORM_FOUND ${MLA_HIP_PLATFORM})
endif()
if(MLA_HIP_PLATFORM_FOUND)
  cmake_language(CALL mla_find_hip_${MLA_HIP_PLATFORM_FOUND} mla_hip_missing)
  if(mla_hip_missing)
    message(FATAL_ERROR "MLA_HIP_PLATFORM=${MLA_HIP_PLATFORM_FOUND}: ${mla_hip_missing}")
  endif()
  set(MLA_WITH_HIP ON)
  cmake_language(CALL mla_hip_${MLA_HIP_PLATFORM_FOUND}_state mla_hip_state)
  cmake_language(CALL mla_enable_hip_${MLA_HIP_PLATFORM_FOUND})
endif()
message(STATUS "GPU backend: ${mla_hip_state}")
file(WRITE ${CMAKE_BINARY_DIR}/gpu_backend.txt "${mla_hip_state}\n")  # for the summary of tools/test

# An object library of HIP sources (.hip), compiled as the platform asks.
function(mla_hip_objects target)
  cmake_language(CALL mla_hip_${MLA_HIP_PLATFORM_FOUND}_objects ${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# Puts the backend into `target`, to be called in kernels/.
function(mla_add_hip target)
  cmake_language(CALL mla_hip_${MLA_HIP_PLATFORM_FOUND}_kernels kernels)
  mla_hip_objects(mla_hip
    gpu/compare_kernels.hip gpu/pool_kernels.hip hip/hip_device.hip hip/hip_executor.hip hip/hip_launcher.hip hip/hip_problem.hip
    hip/hip_roofs.hip hip/probes.hip ${kernels})
  target_include_directories(mla_hip PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/gpu/generated)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:mla_hip>)
  target_compile_definitions(${target} PRIVATE MLA_WITH_HIP=1)
  target_link_libraries(${target} PUBLIC ${MLA_HIP_RUNTIME})
endfunction()

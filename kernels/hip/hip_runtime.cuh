// SPDX-License-Identifier: MIT
// The HIP runtime, on either platform. Every device source includes this instead of HIP itself.
#pragma once

#include <hip/hip_version.h>

#if defined(__HIP_PLATFORM_NVIDIA__)
#include <cuda_runtime.h>
#endif

#if defined(__HIP_PLATFORM_NVIDIA__) && HIP_VERSION_MAJOR < 7 && CUDART_VERSION >= 13000
#include "kernels/hip/cuda13_compat.cuh"
#define cudaDeviceProp MlaCudaDeviceProp  // while HIP's own header is read
#include <hip/hip_runtime.h>
#undef cudaDeviceProp
#elif !defined(__HIP_PLATFORM_NVIDIA__) && HIP_VERSION_MAJOR < 6
#include "kernels/hip/rocm5_compat.cuh"
#else
#include <hip/hip_runtime.h>
#endif

// SPDX-License-Identifier: MIT
#include "kernels/gpu/compare_kernels.cuh"
#include "kernels/problem.h"

namespace mla::gpu {
namespace {

constexpr int kThreads = 128;  // four elements each

__device__ float from_bf16(uint16_t value) {
  return __uint_as_float(static_cast<uint32_t>(value) << 16);
}

__device__ float finite_or_infinite(float error) {
  return error <= 3.4e38f ? error : __uint_as_float(0x7F800000u);  // NaN compares false
}

// Empty rows have an LSE of -inf, which has to match exactly.
__device__ float lse_error(float value, float kept) {
  if (value == kept) return 0;
  return finite_or_infinite(fabsf(value - kept));
}

__global__ void compare_kernel(OutputPair pair, RowErrors* errors) {
  __shared__ float difference[kThreads], norm[kThreads];
  const int thread = threadIdx.x;
  const int64_t first = int64_t{blockIdx.x} * kValueDim;
  float my_difference = 0, my_norm = 0;
  for (int i = thread; i < kValueDim; i += kThreads) {
    const float kept = from_bf16(pair.kept_out[first + i]);
    const float delta = from_bf16(pair.out[first + i]) - kept;
    my_difference += delta * delta;
    my_norm += kept * kept;
  }
  difference[thread] = my_difference;
  norm[thread] = my_norm;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      difference[thread] += difference[thread + half];
      norm[thread] += norm[thread + half];
    }
  }
  if (thread != 0) return;
  const float squared = norm[0] > 0 ? difference[0] / norm[0] : difference[0];
  errors[blockIdx.x] = {finite_or_infinite(sqrtf(squared)),
                        lse_error(pair.lse[blockIdx.x], pair.kept_lse[blockIdx.x])};
}

}  // namespace

hipError_t compare_rows(const OutputPair& pair,
                        int64_t rows,
                        RowErrors* errors,
                        hipStream_t stream) {
  if (rows == 0) return hipSuccess;
  compare_kernel<<<dim3(static_cast<unsigned>(rows)), kThreads, 0, stream>>>(pair, errors);
  return hipGetLastError();
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Two outputs of one problem compared on the device: one workgroup a row of 512 elements.
#pragma once

#include <cstdint>

#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

// A row's relative L2 error, and the absolute error of its LSE. Infinite where an element is not
// finite; both zero where an empty row is equal.
struct RowErrors {
  float output;
  float lse;
};

struct OutputPair {
  const uint16_t* out;       // [rows, 512] bf16
  const float* lse;          // [rows]
  const uint16_t* kept_out;  // what it is compared with
  const float* kept_lse;
};

hipError_t compare_rows(const OutputPair& pair,
                        int64_t rows,
                        RowErrors* errors,
                        hipStream_t stream);

}  // namespace mla::gpu

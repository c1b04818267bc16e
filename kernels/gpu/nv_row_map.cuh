// SPDX-License-Identifier: MIT
// The KV pool as the copy engine of sm_90 sees it: rows of 9 lines of 64 elements, fetched a row at
// a time with the pieces of each line swapped (bh16_layout.h). A kernel argument; sm_80 ignores it.
#pragma once

#include "kernels/decode_params.h"
#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

using RowMap = CUtensorMap;

class RowMapEncoder {
 public:
  // hipErrorNotFound where the driver has no such maps.
  hipError_t init();

  bool ready() const { return encode_tiled_ != nullptr; }

  // hipErrorInvalidValue for rows that are not on 16-byte boundaries.
  hipError_t encode(const DecodeParams& params, RowMap* map) const;

  // The pool as rows x columns, fetched in boxes of `rows` rows of a line each (wide_layout.h).
  hipError_t encode_panels(const DecodeParams& params, int rows, RowMap* map) const;

 private:
  template <size_t kRank>
  hipError_t encode_bf16(const DecodeParams& params,
                         const cuuint64_t (&sizes)[kRank],
                         const cuuint64_t (&strides_bytes)[kRank - 1],
                         const cuuint32_t (&box)[kRank],
                         RowMap* map) const;

  decltype(&cuTensorMapEncodeTiled) encode_tiled_ = nullptr;
};

}  // namespace mla::gpu

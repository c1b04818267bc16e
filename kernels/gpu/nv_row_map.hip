// SPDX-License-Identifier: MIT
#include "kernels/gpu/nv_row_map.cuh"

#include <cstdint>

#include "kernels/bh16_layout.h"

namespace mla::gpu {
namespace {

constexpr unsigned kMapVersion = 12000;  // of the driver interface that has them
// The pool's size is not known here, and page numbers within it are the caller's promise.
constexpr uint64_t kMostRows = INT32_MAX;

}  // namespace

hipError_t RowMapEncoder::init() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &function, kMapVersion, cudaEnableDefault, &result);
  if (status != cudaSuccess) return hipCUDAErrorTohipError(status);
  if (result != cudaDriverEntryPointSuccess) return hipErrorNotFound;
  encode_tiled_ = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  return hipSuccess;
}

hipError_t RowMapEncoder::encode(const DecodeParams& params, RowMap* map) const {
  constexpr cuuint32_t kLineElements = kLineBytes / 2;
  const cuuint64_t sizes[] = {kLineElements, kRowLines, kMostRows};
  const cuuint64_t strides_bytes[] = {kLineBytes,
                                      static_cast<cuuint64_t>(params.kv_row_stride) * 2};
  const cuuint32_t row[] = {kLineElements, kRowLines, 1};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult result = encode_tiled_(map,
                                        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                        3,
                                        const_cast<void*>(params.kv),
                                        sizes,
                                        strides_bytes,
                                        row,
                                        steps,
                                        CU_TENSOR_MAP_INTERLEAVE_NONE,
                                        CU_TENSOR_MAP_SWIZZLE_128B,
                                        CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
#include "kernels/gpu/nv_row_map.cuh"

#include <cstdint>

#include "kernels/bh16_layout.h"

namespace mla::gpu {
namespace {

constexpr unsigned kMapVersion = 12000;  // of the driver interface that has them
// The pool's size is not known here, and page numbers within it are the caller's promise.
constexpr uint64_t kMostRows = INT32_MAX;
constexpr cuuint32_t kLineElements = kLineBytes / 2;

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

template <size_t kRank>
hipError_t RowMapEncoder::encode_bf16(const DecodeParams& params,
                                      const cuuint64_t (&sizes)[kRank],
                                      const cuuint64_t (&strides_bytes)[kRank - 1],
                                      const cuuint32_t (&box)[kRank],
                                      RowMap* map) const {
  cuuint32_t steps[kRank];
  for (cuuint32_t& step : steps) step = 1;
  const CUresult result = encode_tiled_(map,
                                        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                        kRank,
                                        const_cast<void*>(params.kv),
                                        sizes,
                                        strides_bytes,
                                        box,
                                        steps,
                                        CU_TENSOR_MAP_INTERLEAVE_NONE,
                                        CU_TENSOR_MAP_SWIZZLE_128B,
                                        CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? hipSuccess : hipErrorInvalidValue;
}

hipError_t RowMapEncoder::encode(const DecodeParams& params, RowMap* map) const {
  return encode_bf16<3>(params,
                        {kLineElements, kRowLines, kMostRows},
                        {kLineBytes, static_cast<cuuint64_t>(params.kv_row_stride) * 2},
                        {kLineElements, kRowLines, 1},
                        map);
}

hipError_t RowMapEncoder::encode_panels(const DecodeParams& params, int rows, RowMap* map) const {
  return encode_bf16<2>(params,
                        {kHeadDim, kMostRows},
                        {static_cast<cuuint64_t>(params.kv_row_stride) * 2},
                        {kLineElements, static_cast<cuuint32_t>(rows)},
                        map);
}

}  // namespace mla::gpu

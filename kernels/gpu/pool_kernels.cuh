// SPDX-License-Identifier: MIT
// Small kernels around the decode kernels: filling a pool on the device, reading memory.
#pragma once

#include <cstdint>

#include "kernels/decode_params.h"
#include "kernels/hip/hip_runtime.cuh"

namespace mla::gpu {

// The rows of fill_base_row and store_row (workload.h) in every cached row of all requests. `p`:
// with the tables on the device; its strides are those of a pool of rows one after the other.
hipError_t fill_requests(uint64_t seed, const DecodeParams& p, void* pool, hipStream_t stream);

// source: [count][row_bytes], a multiple of 4, to the pool rows that `rows` names.
hipError_t scatter_rows(const void* source,
                        const int64_t* rows,
                        int64_t count,
                        int64_t row_bytes,
                        void* pool,
                        hipStream_t stream);

// Reads a multiple of 16 bytes `repeats` times and keeps nothing. `sink` is never written: 16 bytes
// that the compiler must believe could be.
hipError_t read_memory(const void* data,
                       int64_t bytes,
                       int repeats,
                       int compute_units,
                       void* sink,
                       hipStream_t stream);

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// The inner loops of the probes. Each does nothing but the operation it is named after.
#pragma once

#include <cstdint>

namespace mla::host {

// Runs `rounds` rounds of independent fused multiply-adds; returns the floating-point operations
// done.
double fma_loop(int64_t rounds);
// The same for AVX512-BF16 dot products; 0 where the CPU has none.
double bf16_dot_loop(int64_t rounds);
// Reads every cache line of the buffer; the sum keeps the loads alive.
uint64_t read_loop(const uint64_t* data, int64_t count);

}  // namespace mla::host

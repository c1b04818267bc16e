// SPDX-License-Identifier: MIT
// What this machine can do at most: the roofs that the decode kernels are held against. Each rate
// is the best of several repetitions of a loop that does nothing else, on all the given threads at
// once.
#pragma once

#include <cstdint>

namespace mla {

struct HostRates {
  double read_gb_s = 0;     // 10^9 bytes a second, from a buffer larger than the last-level cache
  double fp32_gflop_s = 0;  // fused multiply-adds of the widest vectors, counted as two operations
  double bf16_dot_gflop_s = 0;  // AVX512-BF16 dot products (64 operations each); 0 where absent
};

// Takes about a second. `threads` as in "cpu:threads=N".
HostRates probe_host(int threads);

// The least power of two, 4 to 128 MiB, that does not quite fit into the caches a thread can reach.
// Measured once a process (0.15 s on an idle machine), because hypervisors report the sum over all
// chips of a machine. Reading twice as much pushes everything else out.
int64_t host_cache_bytes();

}  // namespace mla

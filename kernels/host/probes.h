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

// What a cold sample takes the last-level cache for; reading twice as much pushes everything else
// out. The size that the system lists, but 32 MiB where it lists none or less (what a core of
// current servers reaches) and at most 128 MiB (hypervisors list the sum over all chips). A rule
// and not a measurement: every worker process needs it, and touching enough memory to measure it
// took 14 to 36 s on a loaded machine.
int64_t host_cache_bytes();

}  // namespace mla

// SPDX-License-Identifier: MIT
// `mla-tune bench`: the decode kernels against the roofs of the machine. Measures and returns plain
// structs; printing is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/host/probes.h"

namespace mla::tools {

// One thing to measure. Legs are interleaved: every round times each leg once, in rotated order.
struct BenchLeg {
  std::string label;  // "highway", "bf16", "default", ...
  Device* device = nullptr;
  Problem problem;
  KernelConfig config;
  double read_gb_s = 0;  // roofs of this leg; 0: unknown, and the shares below stay 0
  double compute_gflop_s = 0;
};

struct BenchOpRow {
  std::string label;
  Problem problem;
  KernelConfig config;
  Outcome outcome;  // kOk, or why there is no time
  int rounds = 0;
  double time_us = 0;      // median over the rounds, cold caches
  double time_low_us = 0;  // quartiles
  double time_high_us = 0;
  double gflop_s = 0;
  double gb_s = 0;      // min_kv_bytes over time
  double floor_us = 0;  // max of the two roofs' times
  std::string bound;    // "read" or "compute": the roof that sets the floor; empty where unknown
  double share = 0;     // floor_us / time_us, 0..1
};

struct BenchOpOptions {
  int rounds = 15;
  uint64_t seed = 1;
  // Called before each sample with (samples done, samples in all); may be empty.
  std::function<void(int64_t, int64_t)> progress;
};

// Runs once and compares a few rows with the float64 reference.
Outcome check_once(LoadedProblem& loaded, const KernelConfig& config, uint64_t seed);

// Checks every leg once against the float64 reference, then measures. Rows in the order of the
// legs.
std::vector<BenchOpRow> bench_op(const std::vector<BenchLeg>& legs, const BenchOpOptions& options);

// The CPU's own bench: the rates of the machine beside every problem under the default policy,
// through Highway and, where the CPU has it, AVX512-BF16.
struct HostBench {
  DeviceInfo device;
  HostRates rates;
  std::vector<BenchOpRow> rows;
};
// `spec` is "cpu" or "cpu:threads=N". Throws Error as open_device does.
HostBench bench_host(const std::string& spec,
                     const std::vector<Problem>& problems,
                     const BenchOpOptions& options);

}  // namespace mla::tools

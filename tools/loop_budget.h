// SPDX-License-Identifier: MIT
// The stage-1 loop of an AMD GPU against the memory: how much of the time in which a compute unit
// gets one KV block each of its pipes is busy with it. From counted machine code and published
// rates; nothing is measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/space.h"
#include "tools/loop_counts.h"

namespace mla::tools {

// What a loop has to reach at groups of up to 16 heads.
inline constexpr double kMaxPipeShare = 0.60;     // of a block's memory time, every pipe
inline constexpr double kMaxAddressShare = 0.15;  // of the loop's issue cycles
int64_t least_in_flight_bytes(const std::string& arch);

// Of memory behind the caches while it is busy. No vendor figure exists; one microsecond is assumed
// on both parts, several times an idle access. LoopBudget::covered_ns needs no such figure.
inline constexpr double kMemoryLatency_ns = 1000;

// A compute unit and its share of the memory.
struct CardRates {
  std::string name;
  double clock_ghz = 0;
  double memory_gb_s = 0;  // of one CU
};

// Nothing for a device whose rates are not known here.
std::optional<CardRates> card_rates(const DeviceInfo& device);

struct LoopBudget {
  AmdStage1 kernel;
  double memory_cycles = 0;    // of a block at the CU's share of the bandwidth
  amdgcn::PipeCycles cycles;   // of a block: MFMA, VALU and SALU of a SIMD, LDS and VMEM of a CU
  double busiest_share = 0;    // of memory_cycles, of the busiest pipe
  double in_flight_bytes = 0;  // by one workgroup while it computes
  double covered_ns = 0;       // the latency that those hide at full bandwidth
  double address_share = 0;    // of the issue cycles
  std::vector<std::string> misses;  // "pipes", "in_flight", "addresses"; empty: all limits are met
};

// Whether loop_budgets() has an answer for the device.
bool has_loop_budget(const DeviceInfo& device);

LoopBudget loop_budget(const CardRates& card, const LoopCounts& counts);

// Of every kernel that the space can ask for at this problem, in knob order. Throws Error(kUsage)
// for a device that is no AMD GPU with known rates and for a build without counts.
std::vector<LoopBudget> loop_budgets(const Space& space, const Problem& problem);

// What a launch would take if memory, the pipes and the latency were all there is: which
// configurations to try first. Nothing for a kernel that is not counted.
std::optional<double> estimated_time_us(const Space& space,
                                        const Problem& problem,
                                        const KernelConfig& config);

}  // namespace mla::tools

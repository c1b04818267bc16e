// SPDX-License-Identifier: MIT
#include "tools/loop_budget.h"

#include <algorithm>

#include "kernels/error.h"
#include "kernels/known_devices.h"

namespace mla::tools {
namespace {

constexpr int kSimds = 4;  // of a CU

// "AMD Instinct MI300X" is the MI300X; a name that says nothing stands for its architecture.
const KnownDevice* known_part(const DeviceInfo& device) {
  const size_t blank = device.name.rfind(' ');
  const KnownDevice* part =
      find_known_device(blank == std::string::npos ? device.name : device.name.substr(blank + 1));
  if (part == nullptr || part->arch != device.arch) part = find_known_arch(device.arch);
  return part;
}

double block_bytes(const AmdStage1& kernel) {
  return static_cast<double>(kernel.tile_n * row_bytes(KvDtype::kBf16));
}

// What is on its way while a block is computed.
double in_flight_bytes(const AmdStage1& kernel) {
  return kernel.wait == Wait::kDrain ? 0 : (kernel.stages - 1) * block_bytes(kernel);
}

std::vector<std::string> misses_of(const LoopBudget& budget, const std::string& arch) {
  std::vector<std::string> misses;
  if (budget.busiest_share > kMaxPipeShare) misses.emplace_back("pipes");
  if (budget.in_flight_bytes < static_cast<double>(least_in_flight_bytes(arch))) {
    misses.emplace_back("in_flight");
  }
  if (budget.address_share > kMaxAddressShare) misses.emplace_back("addresses");
  return misses;
}

const LoopCounts* find_counts(const std::string& arch, const AmdStage1& kernel) {
  for (const LoopCounts& counts : loop_counts()) {
    if (counts.arch == arch && counts.kernel == kernel) return &counts;
  }
  return nullptr;
}

AmdStage1 kernel_of(const Problem& problem, const KernelConfig& config) {
  return {config.tile_n, config.stages, config.wait, problem.pool == PoolClass::kLarge, true};
}

// One block of a CU: at its share of the bandwidth, which CUs that idle do not add to, or at what
// its bytes in flight can ask for.
double block_us(const CardRates& card, const LoopBudget& budget) {
  const double bytes = block_bytes(budget.kernel);
  const double asked_gb_s = std::max(bytes, budget.in_flight_bytes) / kMemoryLatency_ns;
  const double memory_ns = bytes / std::min(card.memory_gb_s, asked_gb_s);
  const double pipe_ns = budget.busiest_share * budget.memory_cycles / card.clock_ghz;
  const bool overlaps = budget.in_flight_bytes > 0;
  return 1e-3 * (overlaps ? std::max(memory_ns, pipe_ns) : memory_ns + pipe_ns);
}

}  // namespace

int64_t least_in_flight_bytes(const std::string& arch) {
  return arch == "gfx950" ? 64 * 1024 : 32 * 1024;
}

std::optional<CardRates> card_rates(const DeviceInfo& device) {
  const KnownDevice* part = known_part(device);
  if (part == nullptr || part->memory_gb_s == 0) return std::nullopt;
  return CardRates{part->name,
                   part->clock_mhz / 1000.0,
                   static_cast<double>(part->memory_gb_s) / part->compute_units};
}

bool has_loop_budget(const DeviceInfo& device) {
  return card_rates(device).has_value() && !loop_counts().empty();
}

LoopBudget loop_budget(const CardRates& card, const LoopCounts& counts) {
  constexpr double kWavesOfSimd = static_cast<double>(kStage1Waves) / kSimds;
  LoopBudget budget;
  budget.kernel = counts.kernel;
  budget.memory_cycles = block_bytes(counts.kernel) / card.memory_gb_s * card.clock_ghz;
  budget.cycles = {counts.cycles.mfma * kWavesOfSimd,
                   counts.cycles.valu * kWavesOfSimd,
                   counts.cycles.salu * kWavesOfSimd,
                   counts.cycles.lds * kStage1Waves,
                   counts.cycles.vmem * kStage1Waves};
  budget.busiest_share = std::max({budget.cycles.mfma,
                                   budget.cycles.valu,
                                   budget.cycles.salu,
                                   budget.cycles.lds,
                                   budget.cycles.vmem}) /
                         budget.memory_cycles;
  budget.in_flight_bytes = in_flight_bytes(counts.kernel);
  budget.covered_ns = budget.in_flight_bytes / card.memory_gb_s;
  budget.address_share = counts.address_cycles / counts.issue_cycles;
  budget.misses = misses_of(budget, std::string(counts.arch));
  return budget;
}

std::vector<LoopBudget> loop_budgets(const Space& space, const Problem& problem) {
  const DeviceInfo& device = space.device();
  const std::optional<CardRates> card = card_rates(device);
  if (!card) {
    throw Error(ErrorCode::kUsage,
                "--budget: no rates are known of " + device.name + "; try --device amdgcn:gfx950");
  }
  if (loop_counts().empty()) {
    throw Error(ErrorCode::kUsage,
                "--budget: this build has no counted machine code; install clang-22, lld-22, "
                "llvm-22, rocm-device-libs and libamdhip64-dev (or ROCm) and configure with "
                "-DMLA_AMDGCN=on");
  }
  std::vector<LoopBudget> budgets;
  KernelConfig config = space.neutral();
  for (const int32_t tile_n : space.range(Knob::kTileN).legal) {
    for (const int32_t stages : space.range(Knob::kStages).legal) {
      for (const int32_t wait : space.range(Knob::kWait).legal) {
        set(&config, Knob::kTileN, tile_n);
        set(&config, Knob::kStages, stages);
        set(&config, Knob::kWait, wait);
        if (space.violation(problem, config)) continue;
        const LoopCounts* counts = find_counts(device.arch, kernel_of(problem, config));
        if (counts != nullptr) budgets.push_back(loop_budget(*card, *counts));
      }
    }
  }
  return budgets;
}

std::optional<double> estimated_time_us(const Space& space,
                                        const Problem& problem,
                                        const KernelConfig& config) {
  constexpr double kMergeUs = 2;  // a second launch, at least
  const DeviceInfo& device = space.device();
  const std::optional<CardRates> card = card_rates(device);
  const LoopCounts* counts = find_counts(device.arch, kernel_of(problem, config));
  if (!card || counts == nullptr) return std::nullopt;
  const ResourceUse use = space.use(problem, config);
  const double trip_us = block_us(*card, loop_budget(*card, *counts));
  const double stage1_us = static_cast<double>(use.waves) *
                           (1e-3 * kMemoryLatency_ns + static_cast<double>(use.trips) * trip_us);
  if (use.stage2_workgroups == 0) return stage1_us;
  // Partial results are written once and read once.
  const double bandwidth_gb_s = card->memory_gb_s * device.compute_units;
  return stage1_us + kMergeUs + 2e-3 * static_cast<double>(use.workspace_bytes) / bandwidth_gb_s;
}

}  // namespace mla::tools

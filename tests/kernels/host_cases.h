// SPDX-License-Identifier: MIT
// What the tests of the host kernels share: devices, problems, and launches below the device
// interface.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/host/host_kernels.h"
#include "kernels/reference.h"
#include "kernels/workload.h"
#include "tests/support/decode_cases.h"

namespace mla::test {

// "highway", and "bf16" where this CPU has it.
inline std::vector<std::string> instruction_sets() {
  std::vector<std::string> sets = {"highway"};
  if (host::bf16_kernels() != nullptr) sets.emplace_back("bf16");
  return sets;
}

inline std::unique_ptr<Device> open_host(const std::string& isa) {
  return open_device("cpu:threads=2,isa=" + isa);
}

inline const host::Kernels& kernels_of(const std::string& isa) {
  return isa == "bf16" ? *host::bf16_kernels() : host::highway_kernels();
}

inline Output read(LoadedProblem& loaded) {
  Output output;
  loaded.read_output(&output.out, &output.lse);
  return output;
}

// Launches without a device, so that a test can pass arguments that no device would.
struct DirectLaunch {
  const host::Kernels& kernels;
  host::CopyMode mode = host::CopyMode::kPrefetch;

  Output operator()(DecodeParams params,
                    const KernelConfig& config,
                    const PipelineSchedule& schedule,
                    bool with_lse = true) const {
    const int64_t rows = int64_t{params.batch} * params.q_len * params.nhead;
    Output output;
    output.out.assign(rows * kValueDim, 0xFFFF);
    output.lse.assign(rows, std::numeric_limits<float>::quiet_NaN());
    const int64_t bytes = workspace_bytes(params.batch, params.q_len, params.nhead, config.splits);
    std::vector<float> workspace(bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
    params.out = output.out.data();
    params.lse = with_lse ? output.lse.data() : nullptr;
    params.workspace = workspace.data();
    const auto scratch = std::make_unique<host::Scratch>();
    for (int64_t i = 0; i < stage1_items(params, config); ++i) {
      const Stage1Item item = stage1_item(params, config, config.group_rows, i);
      kernels.stage1(params, config, schedule, mode, item, scratch.get());
    }
    for (int64_t i = 0; i < stage2_items(params, config); ++i) {
      run_stage2(params, config, stage2_item(config, i), scratch.get());
    }
    return output;
  }
};

inline const std::vector<int32_t> kHeads = {1, 5, 12, 16, 24, 33, 64, 128};
inline const std::vector<int32_t> kQLens = {1, 2, 3, 4, 5, 6, 7, 8};
inline const std::vector<std::vector<int64_t>> kLengths = {
    {0, 0}, {1, 1}, {15, 15}, {64, 64}, {65, 65}, {1000, 1000}, {0, 1, 700, 65, 3}};

inline const std::vector<KvDtype> kDtypes = {KvDtype::kBf16, KvDtype::kFp8};

inline std::vector<size_t> problem_sizes() {
  return {kPageSizes.size(), kHeads.size(), kQLens.size(), kLengths.size(), kDtypes.size()};
}

inline std::shared_ptr<const Workload> problem_of(const Choice& choice) {
  Problem problem;
  problem.page_size = kPageSizes[choice[0]];
  problem.nhead = kHeads[choice[1]];
  problem.q_len = kQLens[choice[2]];
  problem.kv_dtype = kDtypes[choice[4]];
  return make_workload(problem, kLengths[choice[3]]);
}

// Problems on which every configuration is tried: pages of one row with few heads, bf16 and fp8;
// ragged requests with one shorter than its splits; several query positions and row groups.
inline std::vector<std::shared_ptr<const Workload>> configured_problems() {
  Problem small;
  Problem fp8;
  fp8.kv_dtype = KvDtype::kFp8;
  Problem ragged;
  ragged.page_size = 16;
  Problem wide;
  wide.nhead = 33;
  wide.q_len = 2;
  wide.page_size = 64;
  return {make_workload(small, {333, 333}),
          make_workload(ragged, {0, 5, 1100}),
          make_workload(wide, {129, 300}),
          make_workload(fp8, {333, 70})};
}

}  // namespace mla::test

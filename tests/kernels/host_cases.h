// SPDX-License-Identifier: MIT
// What the tests of the host kernels share: devices, problems, and launches below the device
// interface.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/device.h"
#include "kernels/host/host_kernels.h"
#include "kernels/reference.h"
#include "kernels/workload.h"

namespace mla::test {

struct Output {
  std::vector<uint16_t> out;
  std::vector<float> lse;
  bool operator==(const Output& other) const = default;
};

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

inline std::shared_ptr<const Workload> make_workload(Problem problem,
                                                     const std::vector<int64_t>& lengths,
                                                     WorkloadOptions options = {}) {
  int64_t total = 0, longest = 0;
  for (const int64_t length : lengths) {
    total += length;
    longest = std::max(longest, length);
  }
  problem.batch = static_cast<int32_t>(lengths.size());
  const int64_t mean = ceil_div(total, problem.batch);
  problem.seq_len = std::max<int64_t>(1, mean);
  problem.imbalance = imbalance_class(std::max<int64_t>(longest, 1), problem.seq_len);
  options.lengths = lengths;
  return std::make_shared<const Workload>(problem, options);
}

inline Output read(LoadedProblem& loaded) {
  Output output;
  loaded.read_output(&output.out, &output.lse);
  return output;
}

inline Outcome check(const std::vector<ReferenceRow>& rows,
                     const Workload& workload,
                     const Output& output) {
  return check_against_reference(rows,
                                 workload.problem().nhead,
                                 output.out.data(),
                                 output.lse.data(),
                                 tolerance(workload.problem().kv_dtype));
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
      kernels.stage1(params, config, schedule, mode, stage1_item(params, config, i), scratch.get());
    }
    for (int64_t i = 0; i < stage2_items(params, config); ++i) {
      run_stage2(params, config, stage2_item(config, i), scratch.get());
    }
    return output;
  }
};

// Indices into the values of some parameters.
using Choice = std::vector<size_t>;

inline std::vector<Choice> all_choices(const std::vector<size_t>& sizes) {
  std::vector<Choice> choices = {{}};
  for (const size_t size : sizes) {
    std::vector<Choice> longer;
    for (const Choice& choice : choices) {
      for (size_t value = 0; value < size; ++value) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

// A seeded subset in which every pair of values of every two parameters occurs.
inline std::vector<Choice> pairwise_choices(const std::vector<size_t>& sizes, uint32_t seed) {
  std::vector<Choice> choices = all_choices(sizes);
  std::shuffle(choices.begin(), choices.end(), std::mt19937(seed));
  std::set<std::tuple<size_t, size_t, size_t, size_t>> seen;
  std::vector<Choice> sample;
  for (const Choice& choice : choices) {
    const size_t before = seen.size();
    for (size_t a = 0; a < choice.size(); ++a) {
      for (size_t b = a + 1; b < choice.size(); ++b) seen.insert({a, choice[a], b, choice[b]});
    }
    if (seen.size() > before) sample.push_back(choice);
  }
  return sample;
}

inline const std::vector<int32_t> kPageSizes = {1, 16, 64};
inline const std::vector<int32_t> kHeads = {1, 3, 8, 12, 16, 33, 64, 128};
inline const std::vector<int32_t> kQLens = {1, 2, 4, 5};
inline const std::vector<std::vector<int64_t>> kLengths = {
    {0, 0}, {1, 1}, {15, 15}, {64, 64}, {65, 65}, {1000, 1000}, {0, 1, 700, 65, 3}};

inline std::vector<size_t> problem_sizes() {
  return {kPageSizes.size(), kHeads.size(), kQLens.size(), kLengths.size()};
}

inline std::shared_ptr<const Workload> problem_of(const Choice& choice) {
  Problem problem;
  problem.page_size = kPageSizes[choice[0]];
  problem.nhead = kHeads[choice[1]];
  problem.q_len = kQLens[choice[2]];
  return make_workload(problem, kLengths[choice[3]]);
}

// Three problems on which every configuration is tried: pages of one row with few heads; ragged
// requests with one shorter than its splits; several query positions and row groups.
inline std::vector<std::shared_ptr<const Workload>> configured_problems() {
  Problem small;
  Problem ragged;
  ragged.page_size = 16;
  Problem wide;
  wide.nhead = 33;
  wide.q_len = 2;
  wide.page_size = 64;
  return {make_workload(small, {333, 333}),
          make_workload(ragged, {0, 5, 1100}),
          make_workload(wide, {129, 300})};
}

}  // namespace mla::test

// SPDX-License-Identifier: MIT
// The CPU implementations: stage 1 once per instruction set, behind one table each, and stage 2.
// Work items run on any thread, one Scratch per thread.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "kernels/host/host_tile.h"
#include "kernels/stage1.h"
#include "kernels/stage2.h"

namespace mla::host {

struct Kernels {
  std::string_view isa;  // "highway" or "bf16"
  void (*stage1)(const DecodeParams& params,
                 const KernelConfig& config,
                 const PipelineSchedule& schedule,
                 CopyMode mode,
                 const Stage1Item& item,
                 Scratch* scratch);
};

// The widest vectors that this CPU has, fp32 arithmetic throughout. Always there.
const Kernels& highway_kernels();

// AVX512-BF16: queries, rows and softmax weights meet as bf16 pairs, sums are fp32. Null where the
// CPU or the target architecture lacks it.
const Kernels* bf16_kernels();

// The merge is a thousandth of the work: plain C++ for every CPU.
void run_stage2(const DecodeParams& params,
                const KernelConfig& config,
                const Stage2Item& item,
                Scratch* scratch);

// [heads - 1]: the instances of a function template for 1..kMost heads. instance.operator()<heads>
// gives one.
template <int kMost, class Instance>
constexpr auto head_instances(Instance instance) {
  return [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    return std::array{instance.template operator()<kIndex + 1>()...};
  }
  (std::make_integer_sequence<int, kMost>());
}

}  // namespace mla::host

// SPDX-License-Identifier: MIT
// The CPU implementations of both stages behind one table each. A caller picks a table and runs
// work items on any thread, one Scratch per thread.
#pragma once

#include <string_view>

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
  void (*stage2)(const DecodeParams& params,
                 const KernelConfig& config,
                 const Stage2Item& item,
                 Scratch* scratch);
};

// The widest vectors that this CPU has, fp32 arithmetic throughout. Always there.
const Kernels& highway_kernels();

// AVX512-BF16: queries, rows and softmax weights meet as bf16 pairs, sums are fp32. Null where the
// CPU or the target architecture lacks it.
const Kernels* bf16_kernels();

}  // namespace mla::host

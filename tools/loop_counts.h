// SPDX-License-Identifier: MIT
// The stage-1 loops of the amdgcn kernels as counted from their machine code when this program was
// built: count_loops.cpp writes the table.
#pragma once

#include <span>
#include <string_view>

#include "kernels/amd_plan.h"
#include "kernels/amdgcn/issue_cycles.h"

namespace mla::tools {

struct LoopCounts {
  std::string_view arch;
  AmdStage1 kernel;
  int32_t vgprs;  // of a lane, accumulation registers included
  // Of one wave for one block, every path through the loop taken.
  amdgcn::PipeCycles cycles;
  double address_cycles;  // of vector and scalar arithmetic on addresses
  double issue_cycles;    // of all instructions, a slot for each that only issues
};

// Empty where the build had no tools for amdgcn.
std::span<const LoopCounts> loop_counts();

}  // namespace mla::tools

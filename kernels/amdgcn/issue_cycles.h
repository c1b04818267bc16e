// SPDX-License-Identifier: MIT
// What a machine instruction of gfx942 and gfx950 costs the pipes of a compute unit: cycles for
// which it keeps them busy, without latencies, stalls and bank conflicts.
#pragma once

#include <string>

#include "kernels/amdgcn/instruction.h"

namespace mla::amdgcn {

// Each SIMD of a CU has MFMA, VALU and issue slots of its own; LDS and VMEM serve all four.
struct PipeCycles {
  double mfma = 0;
  double valu = 0;
  double salu = 0;
  double lds = 0;
  double vmem = 0;

  PipeCycles& operator+=(const PipeCycles& other);
};

// Of one wave of 64 lanes. Throws Error(kUsage) for a matrix instruction whose rate is not known
// here and for a target that is neither.
PipeCycles issue_cycles(const Instruction& instruction, const std::string& target);

// Bytes that one lane of a memory or LDS instruction moves; 0 for others.
int lane_bytes(const Instruction& instruction);

}  // namespace mla::amdgcn

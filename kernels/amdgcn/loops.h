// SPDX-License-Identifier: MIT
// Loops in machine code: what runs from the target of a backward branch to that branch. Enough for
// the loops of a kernel's hot path, which the compiler lays out in one piece.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/amdgcn/instruction.h"

namespace mla::amdgcn {

struct Loop {
  size_t begin = 0;  // index of the branch target
  size_t end = 0;    // one past the last backward branch to it
  size_t size() const { return end - begin; }
};

// By begin; the branches to one target make one loop.
std::vector<Loop> find_loops(const std::vector<Instruction>& instructions);

// Instructions of [begin, end) whose mnemonic starts with the prefix.
size_t count(const std::vector<Instruction>& instructions,
             const Loop& loop,
             std::string_view prefix);

// The loops that hold an instruction with this prefix ("v_mfma_") and no smaller loop that does.
std::vector<Loop> innermost_loops_with(const std::vector<Instruction>& instructions,
                                       std::string_view prefix);

}  // namespace mla::amdgcn

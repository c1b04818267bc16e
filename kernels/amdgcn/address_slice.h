// SPDX-License-Identifier: MIT
// Which instructions of a loop compute addresses: those whose results reach the address operands of
// memory and LDS instructions, directly or through other such instructions, in this turn of the
// loop or the next.
#pragma once

#include <vector>

#include "kernels/amdgcn/loops.h"

namespace mla::amdgcn {

// One entry an instruction of the loop; true for vector and scalar arithmetic that is part of an
// address. Memory instructions, matrix products and lane shuffles are not.
std::vector<bool> address_arithmetic(const std::vector<Instruction>& instructions,
                                     const Loop& loop);

}  // namespace mla::amdgcn

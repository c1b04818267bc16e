// SPDX-License-Identifier: MIT
// The modifiers behind the operands of an instruction, as fields of an Op.
#pragma once

#include "kernels/amdgcn/instruction.h"
#include "tests/amdgcn/op.h"

namespace mla::amdgcn {

// Throws Error for a modifier that is unknown or that this family of instructions does not support
// here.
void decode_modifiers(const Instruction& instruction, Family family, Op* op);

}  // namespace mla::amdgcn

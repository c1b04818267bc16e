// SPDX-License-Identifier: MIT
// Text of one operand: registers, constants, and the modifiers around them.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/amdgcn/instruction.h"

namespace mla::amdgcn {

// False for anything but a number, decimal or 0x, with an optional minus sign.
bool parse_number(std::string_view text, int64_t* value);

// "abs(v1)" to "v1"; true if the text had that form.
bool strip_call(std::string_view name, std::string_view* text);

// Never fails: what is neither a register nor a constant stays text.
Operand parse_operand(std::string_view text);

}  // namespace mla::amdgcn

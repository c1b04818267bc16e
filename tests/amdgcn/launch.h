// SPDX-License-Identifier: MIT
// What a kernel finds at its start: the kernel argument segment with the hidden arguments of code
// object version 5, and the registers that its descriptor asks for.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/amdgcn/code_object.h"
#include "tests/amdgcn/machine.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {

// Throws Error where kernel or launch ask for what is not emulated: scratch, spills, too large a
// workgroup.
void check_launch(const CodeObject& code_object, const Kernel& kernel, const Launch& launch);

// Static and dynamic.
size_t lds_bytes(const Kernel& kernel, const Launch& launch);

std::vector<std::byte> kernel_arguments(const Kernel& kernel, const Launch& launch);

// Scalars, work-item ids and exec mask of wave `index` of a workgroup.
void set_start_registers(const Kernel& kernel,
                         const Launch& launch,
                         Dim3 workgroup,
                         uint32_t index,
                         uint64_t kernarg,
                         Wave* wave);

}  // namespace mla::amdgcn

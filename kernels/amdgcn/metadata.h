// SPDX-License-Identifier: MIT
// The AMDGPU metadata note as llvm-readobj prints it: YAML of a fixed shape, one key a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/amdgcn/code_object.h"

namespace mla::amdgcn {

struct Metadata {
  std::string target;  // gfx950
  std::vector<KernelMetadata> kernels;
};

Metadata parse_metadata(std::string_view notes);

}  // namespace mla::amdgcn

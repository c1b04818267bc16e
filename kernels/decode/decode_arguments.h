// SPDX-License-Identifier: MIT
// From the structs of mla_decode.h to what a launch takes, with every field checked against what
// the kernels can do.
#pragma once

#include "kernels/decode/mla_decode.h"
#include "kernels/decode_params.h"
#include "kernels/space.h"

namespace mla {

struct DecodeArguments {
  DecodeParams params;
  KernelConfig config;
};

// `row_alignment`: of KV rows and output, in bytes. Throws Error(kUsage) naming the first field
// that cannot be used and what it would have to be.
DecodeArguments read_arguments(const mla_tensors* tensors,
                               const mla_plan* plan,
                               const Space& space,
                               int64_t row_alignment);

}  // namespace mla

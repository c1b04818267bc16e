// SPDX-License-Identifier: MIT
// Layout of the caller's workspace: what stage 1 leaves for stage 2. An output row is one (token,
// head).
//   partial outputs  [output rows][splits][512] fp32, each normalised by its own sum
//   partial LSE      [output rows][splits] fp32, natural log; -inf where a split saw no row
// The bytes are workspace_bytes() of space.h.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

class WorkspaceView {
 public:
  // Null where nothing is split and neither function is called.
  constexpr WorkspaceView(void* workspace, int64_t output_rows, int64_t splits)
      : outputs_(static_cast<float*>(workspace)),
        lse_begin_(output_rows * splits * kValueDim),
        splits_(splits) {}

  constexpr float* output(int64_t output_row, int64_t split) const {
    return outputs_ + (output_row * splits_ + split) * kValueDim;
  }
  constexpr float* lse(int64_t output_row, int64_t split) const {
    return outputs_ + lse_begin_ + output_row * splits_ + split;
  }

 private:
  float* outputs_;
  int64_t lse_begin_;
  int64_t splits_;
};

}  // namespace mla

// SPDX-License-Identifier: MIT
// Where a wide workgroup's rows of the output or of a partial result go. Kept in shared memory: the
// warpgroups that walk have no registers for it.
#pragma once

#include "kernels/gpu/stage1_work.cuh"
#include "kernels/workspace.h"

namespace mla::gpu {

class ResultRows {
 public:
  // first_row: of the group, the workgroup's first.
  template <class Work>
  __device__ ResultRows(const DecodeParams& p,
                        const KernelConfig& config,
                        const Work& work,
                        int first_row)
      : partial_(!work.unsplit), rows_(work.group.rows - first_row) {
    const int64_t row = work.group.output_row(p, first_row);
    if (partial_) {
      const WorkspaceView partials(p.workspace, int64_t{p.batch} * query_rows(p), config.splits);
      first_ = partials.output(row, work.split);
      lse_ = partials.lse(row, work.split);
    } else {
      first_ = p.out + row * kValueDim;
      lse_ = p.lse == nullptr ? nullptr : p.lse + row;
    }
    stride_ = partial_ ? config.splits : 1;
  }

  __device__ bool partial() const { return partial_; }

  // fp32 of a partial result or bf16 of the output; null for a row that the group lacks.
  template <class Element>
  __device__ Element* row(int i) const {
    return i < rows_ ? static_cast<Element*>(first_) + i * stride_ * kValueDim : nullptr;
  }

  __device__ void store_lse(int i, float lse) const {
    if (i < rows_ && lse_ != nullptr) lse_[i * stride_] = lse;
  }

 private:
  void* first_;
  float* lse_;
  int32_t stride_;  // output rows from one to the next
  int32_t rows_;
  bool partial_;
};

}  // namespace mla::gpu

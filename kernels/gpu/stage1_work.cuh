// SPDX-License-Identifier: MIT
// What a stage-1 workgroup is to do, on either GPU platform: a row group, the KV range that it
// walks, and where the rows of the pool lie.
#pragma once

#include "kernels/partition.h"
#include "kernels/row_group.h"
#include "kernels/shares.h"

namespace mla::gpu {

// The blocks of one split, in rows of the request.
template <int kTileN>
struct Walk {
  int32_t begin;
  int32_t end;

  __device__ int count() const { return block_count<int32_t>(end - begin, kTileN); }
  __device__ int first_row(int block) const { return begin + block * kTileN; }
  __device__ int rows(int block) const { return min(kTileN, end - first_row(block)); }
};

// A row group and the KV range of it that a workgroup walks.
template <int kTileN>
struct Stage1Work {
  int32_t request;
  int32_t token;  // request * q_len + query position
  int32_t first_head;
  int32_t split;
  bool idle;     // a surplus split: no work and no place in the merge
  bool unsplit;  // writes the output itself
  Walk<kTileN> walk;

  // Of a workgroup of the uniform schedule.
  __device__ Stage1Work(const DecodeParams& p, const KernelConfig& config, int32_t workgroup) {
    const Stage1Item item = stage1_item<int32_t>(p, config, workgroup);
    const auto group = static_cast<int32_t>(item.group);
    token = group / head_groups<int32_t>(p);
    request = token / p.q_len;
    first_head = group % head_groups<int32_t>(p) * kGroupRows;
    split = static_cast<int32_t>(item.split);
    const auto rows = static_cast<int32_t>(request_rows(p, request));
    const int32_t splits = effective_splits<int32_t>(rows, config.splits, kTileN);
    unsplit = splits <= 1;
    idle = split >= (unsplit ? 1 : splits);
    set_walk(p, rows, split_range<int32_t>(rows, config.splits, kTileN, split));
  }

  // Of a piece of a share.
  __device__ Stage1Work(const DecodeParams& p, const BasicPiece<int32_t>& piece) {
    request = piece.request;
    token = request * p.q_len + piece.group / head_groups<int32_t>(p);
    first_head = piece.group % head_groups<int32_t>(p) * kGroupRows;
    split = piece.index;
    unsplit = piece.whole;
    idle = false;
    set_walk(p, piece.rows, piece.range);
  }

  __device__ const int32_t* pages(const DecodeParams& p) const {
    return p.kv_indices + p.kv_indptr[request];
  }

 private:
  // Cut where the query position sees no further; nothing may be left.
  __device__ void set_walk(const DecodeParams& p,
                           int32_t rows,
                           const BasicRowRange<int32_t>& range) {
    const auto visible = static_cast<int32_t>(visible_rows(rows, p.q_len, token % p.q_len));
    walk.end = range.end < visible ? range.end : visible;
    walk.begin = range.begin < walk.end ? range.begin : walk.end;
  }
};

}  // namespace mla::gpu

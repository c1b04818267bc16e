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

// The row group of a workgroup of the uniform schedule. Needs nothing from memory.
template <int kGroupRows>
__device__ BasicRowGroup<int32_t> uniform_group(const DecodeParams& p, int32_t index) {
  const int32_t groups = request_groups<int32_t>(query_rows<int32_t>(p), kGroupRows);
  return row_group<int32_t>(p, kGroupRows, index / groups, index % groups);
}

// A row group and the KV range of it that a workgroup walks.
template <int kTileN, int kGroupRows>
struct Stage1Work {
  BasicRowGroup<int32_t> group;
  int32_t cached_rows;  // of the request
  int32_t split;
  bool idle;     // a surplus split: no work and no place in the merge
  bool unsplit;  // writes the output itself
  Walk<kTileN> walk;
  int32_t first_masked;  // block of which some query row attends to fewer than kTileN rows

  // Of a workgroup of the uniform schedule.
  __device__ Stage1Work(const DecodeParams& p, const KernelConfig& config, int32_t workgroup) {
    const Stage1Item item = stage1_item<int32_t>(p, config, kGroupRows, workgroup);
    group = uniform_group<kGroupRows>(p, static_cast<int32_t>(item.group));
    split = static_cast<int32_t>(item.split);
    cached_rows = static_cast<int32_t>(request_rows(p, group.request));
    const int32_t splits = effective_splits<int32_t>(cached_rows, config.splits, kTileN);
    unsplit = splits <= 1;
    idle = split >= (unsplit ? 1 : splits);
    set_walk(p, split_range<int32_t>(cached_rows, config.splits, kTileN, split));
  }

  // Of a piece of a share.
  __device__ Stage1Work(const DecodeParams& p, const BasicPiece<int32_t>& piece) {
    group = row_group<int32_t>(p, kGroupRows, piece.request, piece.group);
    cached_rows = piece.rows;
    split = piece.index;
    unsplit = piece.whole;
    idle = false;
    set_walk(p, piece.range);
  }

  __device__ const int32_t* pages(const DecodeParams& p) const {
    return p.kv_indices + p.kv_indptr[group.request];
  }

  // The same for the group's query rows from `first` on, of which there may be none.
  __device__ Stage1Work behind(int32_t first) const {
    Stage1Work part = *this;
    part.group = group.behind(first);
    return part;
  }
  // Rows of a block that a query row of the group attends to; may be negative.
  __device__ int attended(const DecodeParams& p, int block, int32_t row) const {
    return min(walk.end, group.visible(p, cached_rows, row)) - walk.first_row(block);
  }

 private:
  // Cut where the group's last row sees no further; nothing may be left.
  __device__ void set_walk(const DecodeParams& p, const BasicRowRange<int32_t>& range) {
    walk.end = min(range.end, group.visible(p, cached_rows, group.rows - 1));
    walk.begin = min(range.begin, walk.end);
    first_masked = (min(walk.end, group.visible(p, cached_rows, 0)) - walk.begin) / kTileN;
  }
};

}  // namespace mla::gpu

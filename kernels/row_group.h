// SPDX-License-Identifier: MIT
// A stage-1 work item is a row group times a KV range. The rows of a group share the walk over the
// KV rows of one request; each has its own query, output row and visible length. Today they are
// heads of one query position.
#pragma once

#include <cstdint>

#include "kernels/config.h"
#include "kernels/decode_params.h"
#include "kernels/partition.h"

namespace mla {

inline constexpr int kGroupRows = 16;

struct RowGroup {
  int64_t request = 0;
  int32_t rows = 0;  // 1..kGroupRows; the arrays are defined up to here
  const uint16_t* query[kGroupRows] = {};
  int64_t output_row[kGroupRows] = {};  // token * nhead + head
  int64_t visible[kGroupRows] = {};     // cached rows this row may attend to
};

// As in partition.h, GPU code counts in int32_t.
template <class Int = int64_t>
constexpr Int head_groups(const DecodeParams& p) {
  return (p.nhead + kGroupRows - 1) / kGroupRows;
}

template <class Int = int64_t>
constexpr Int row_group_count(const DecodeParams& p) {
  return Int{p.batch} * p.q_len * head_groups<Int>(p);
}

// Groups are numbered [batch][q_len][ceil(nhead / 16)].
inline RowGroup row_group(const DecodeParams& p, int64_t index) {
  const int64_t token = index / head_groups(p);
  const int64_t first_head = index % head_groups(p) * kGroupRows;
  RowGroup group;
  group.request = token / p.q_len;
  const int64_t rest = p.nhead - first_head;
  group.rows = static_cast<int32_t>(rest < kGroupRows ? rest : kGroupRows);
  const int64_t visible = visible_rows(request_rows(p, group.request), p.q_len, token % p.q_len);
  for (int32_t r = 0; r < group.rows; ++r) {
    const int64_t head = first_head + r;
    group.query[r] = p.q + token * p.q_token_stride + head * p.q_head_stride;
    group.output_row[r] = token * p.nhead + head;
    group.visible[r] = visible;
  }
  return group;
}

struct Stage1Item {
  int64_t group = 0;
  int64_t split = 0;
};

constexpr int64_t stage1_items(const DecodeParams& p, const KernelConfig& config) {
  return row_group_count(p) * config.splits;
}

// The work of workgroup `index`. Changes who computes what and when, never a result.
template <class Int = int64_t>
constexpr Stage1Item stage1_item(const DecodeParams& p,
                                 const KernelConfig& config,
                                 Same<Int> index) {
  if (config.order == Order::kSplitMajor) return {index / config.splits, index % config.splits};
  const Int groups = row_group_count<Int>(p);
  return {index % groups, index / groups};
}

}  // namespace mla

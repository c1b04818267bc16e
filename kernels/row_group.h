// SPDX-License-Identifier: MIT
// A stage-1 work item is a row group times a KV range. The query rows of a request are its heads at
// its query positions, row = position * nhead + head, and a group is `group_rows` consecutive ones
// of them, the last group what is left. They share the walk over the request's KV rows; each has
// its own query and output row, and its own visible length where a group holds several positions.
#pragma once

#include <cstdint>

#include "kernels/config.h"
#include "kernels/decode_params.h"
#include "kernels/partition.h"

namespace mla {

// As in partition.h, GPU code counts in int32_t; a request has at most 8 x 128 query rows.
template <class Int = int64_t>
constexpr Int request_groups(Same<Int> query_rows, Same<Int> group_rows) {
  return (query_rows + group_rows - 1) / group_rows;
}

template <class Int = int64_t>
constexpr Int query_rows(const DecodeParams& p) {
  return Int{p.q_len} * p.nhead;
}

template <class Int = int64_t>
constexpr Int row_group_count(const DecodeParams& p, Same<Int> group_rows) {
  return p.batch * request_groups<Int>(query_rows<Int>(p), group_rows);
}

template <class Int>
struct BasicRowGroup {
  Int request = 0;
  Int first_row = 0;  // of the request's query rows
  Int rows = 0;       // 1..group_rows

  constexpr Int position(const DecodeParams& p, Int row) const {
    return (first_row + row) / p.nhead;
  }
  // Row of the output and of the LSE: [token][head].
  constexpr int64_t output_row(const DecodeParams& p, Int row) const {
    return int64_t{request} * query_rows<Int>(p) + first_row + row;
  }
  constexpr const uint16_t* query(const DecodeParams& p, Int row) const {
    const Int at = position(p, row);
    const Int head = first_row + row - at * p.nhead;
    return p.q + (int64_t{request} * p.q_len + at) * p.q_token_stride + head * p.q_head_stride;
  }
  // The same group's query rows from `first` on, of which there may be none.
  constexpr BasicRowGroup behind(Int first) const {
    return {request, first_row + first, rows - first};
  }
  // Cached rows that a query row may attend to, of the request's `cached_rows`. Later rows never
  // see less.
  constexpr Int visible(const DecodeParams& p, Int cached_rows, Int row) const {
    return static_cast<Int>(visible_rows(cached_rows, p.q_len, position(p, row)));
  }
};
using RowGroup = BasicRowGroup<int64_t>;

// Group `index` of a request.
template <class Int = int64_t>
constexpr BasicRowGroup<Int> row_group(const DecodeParams& p,
                                       Same<Int> group_rows,
                                       Same<Int> request,
                                       Same<Int> index) {
  const Int first_row = index * group_rows;
  const Int rest = query_rows<Int>(p) - first_row;
  return {request, first_row, rest < group_rows ? rest : group_rows};
}

struct Stage1Item {
  int64_t group = 0;  // [batch][groups of a request]
  int64_t split = 0;
};

constexpr int64_t stage1_items(const DecodeParams& p, const KernelConfig& config) {
  return row_group_count(p, config.group_rows) * config.splits;
}

// The work of workgroup `index`. Changes who computes what and when, never a result. `group_rows`
// are the configuration's, which a kernel knows at compile time.
template <class Int = int64_t>
constexpr Stage1Item stage1_item(const DecodeParams& p,
                                 const KernelConfig& config,
                                 Same<Int> group_rows,
                                 Same<Int> index) {
  if (config.order == Order::kSplitMajor) return {index / config.splits, index % config.splits};
  const Int groups = row_group_count<Int>(p, group_rows);
  return {index % groups, index / groups};
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// How a request's KV rows are divided among its splits. constexpr, so that host code, device code
// and tests share it.
//
// The range is cut in blocks of tile_n rows and every split gets floor or ceil of the blocks, the
// longer ones first. A launch budget above the block count is one that was chosen for longer
// requests, as in a captured graph: then every split (but perhaps the last) gets the blocks of
// kShortSplitRows rows, and the surplus splits have no work. Those in use are never empty. (Cutting
// rows evenly and giving the rest to the last split, as the common formula does, makes one split up
// to twice as long as the others.)
//
// Everything is a template over the integer that counts rows; GPU code takes int32_t (rows are
// below 2^24), because a 64-bit division costs it a hundred instructions.
#pragma once

#include <cstdint>

namespace mla {

// Not deduced: block_count(rows, 64) counts in int64_t whatever its arguments are.
template <class Int>
struct SameType {
  using Type = Int;
};
template <class Int>
using Same = typename SameType<Int>::Type;

template <class Int>
struct BasicRowRange {
  Int begin = 0;
  Int end = 0;  // exclusive; a multiple of tile_n except at the end of the request
};
using RowRange = BasicRowRange<int64_t>;

template <class Int = int64_t>
constexpr Int block_count(Same<Int> rows, Same<Int> tile_n) {
  return (rows + tile_n - 1) / tile_n;
}

// Rows of a split where a launch has splits to spare, or one block where that is more. With one
// block of 32 each, copies overlap no products and twice as many partial results are merged: a
// third longer at 4,096 rows. With two of 64 a split takes its second way through the code, which
// then comes from memory: 15 to 20 % longer at 1,024 rows (H200, NOTES.md, "Splits to spare").
inline constexpr int kShortSplitRows = 64;

// Splits that get work; 0 for an empty request.
template <class Int = int64_t>
constexpr Int effective_splits(Same<Int> rows, Same<Int> budget, Same<Int> tile_n) {
  const Int blocks = block_count<Int>(rows, tile_n);
  return blocks < budget
             ? block_count<Int>(rows, tile_n < kShortSplitRows ? kShortSplitRows : tile_n)
             : budget;
}

// Rows of split `index`; empty where index >= effective_splits.
template <class Int = int64_t>
constexpr BasicRowRange<Int> split_range(Same<Int> rows,
                                         Same<Int> budget,
                                         Same<Int> tile_n,
                                         Same<Int> index) {
  const Int splits = effective_splits<Int>(rows, budget, tile_n);
  if (index >= splits) return {rows, rows};
  const Int blocks = block_count<Int>(rows, tile_n);
  const Int base = blocks / splits;
  const Int longer = blocks % splits;
  const Int first = index * base + (index < longer ? index : longer);
  const Int last = first + base + (index < longer ? 1 : 0);
  const Int end = last * tile_n;
  return {first * tile_n, end < rows ? end : rows};
}

// KV-loop iterations of the longest split.
constexpr int64_t trips(int64_t rows, int64_t budget, int64_t tile_n) {
  const int64_t splits = effective_splits(rows, budget, tile_n);
  return splits == 0 ? 0 : (block_count(rows, tile_n) + splits - 1) / splits;
}

}  // namespace mla

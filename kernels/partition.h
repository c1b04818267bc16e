// SPDX-License-Identifier: MIT
// How a request's KV rows are divided among its splits. constexpr, so that host code, device code
// and tests share it.
//
// The range is cut in blocks of tile_n rows and every split gets floor or ceil of the blocks, the
// longer ones first. A launch budget above the block count leaves the surplus splits without work;
// those in use are never empty. (Cutting rows evenly and giving the rest to the last split, as the
// common formula does, makes one split up to twice as long as the others.)
#pragma once

#include <cstdint>

namespace mla {

struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;  // exclusive; a multiple of tile_n except at the end of the request
};

constexpr int64_t block_count(int64_t rows, int64_t tile_n) {
  return (rows + tile_n - 1) / tile_n;
}

// Splits that get work: min(budget, blocks), and 0 for an empty request.
constexpr int64_t effective_splits(int64_t rows, int64_t budget, int64_t tile_n) {
  const int64_t blocks = block_count(rows, tile_n);
  return blocks < budget ? blocks : budget;
}

// Rows of split `index`; empty where index >= effective_splits.
constexpr RowRange split_range(int64_t rows, int64_t budget, int64_t tile_n, int64_t index) {
  const int64_t splits = effective_splits(rows, budget, tile_n);
  if (index >= splits) return {rows, rows};
  const int64_t blocks = block_count(rows, tile_n);
  const int64_t base = blocks / splits;
  const int64_t longer = blocks % splits;
  const int64_t first = index * base + (index < longer ? index : longer);
  const int64_t last = first + base + (index < longer ? 1 : 0);
  const int64_t end = last * tile_n;
  return {first * tile_n, end < rows ? end : rows};
}

// KV-loop iterations of the longest split.
constexpr int64_t trips(int64_t rows, int64_t budget, int64_t tile_n) {
  const int64_t splits = effective_splits(rows, budget, tile_n);
  return splits == 0 ? 0 : (block_count(rows, tile_n) + splits - 1) / splits;
}

}  // namespace mla

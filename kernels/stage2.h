// SPDX-License-Identifier: MIT
// Stage 2, written once over tile operations: merges the partial results of a request's splits by
// their log-sum-exp. A work item is one output row times one of `stage2_tiles` slices of the head
// dimension; each re-derives the scalars from the partial LSE, so no slice waits for another.
//
// A MergeTile class is what a target implements.
//   exp(x), log(x)                 natural
//   clear(columns)                 accumulator = 0
//   add(partial, weight, columns)  accumulator += weight * partial[0..columns)
//   store(pointer, columns)        accumulator as bf16
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/partition.h"
#include "kernels/row_group.h"
#include "kernels/workspace.h"

namespace mla {

struct Stage2Item {
  int64_t output_row = 0;  // token * nhead + head
  int32_t tile = 0;
};

constexpr int64_t stage2_items(const DecodeParams& p, const KernelConfig& config) {
  return config.splits == 1 ? 0 : int64_t{p.batch} * p.q_len * p.nhead * config.stage2_tiles;
}

constexpr Stage2Item stage2_item(const KernelConfig& config, int64_t index) {
  return {index / config.stage2_tiles, static_cast<int32_t>(index % config.stage2_tiles)};
}

template <class MergeTile>
void stage2(MergeTile& tile,
            const DecodeParams& p,
            const KernelConfig& config,
            const Stage2Item& item) {
  constexpr float kEmpty = -std::numeric_limits<float>::infinity();
  const int64_t row = item.output_row;
  const int64_t rows = request_rows(p, row / p.nhead / p.q_len);
  const int64_t splits = effective_splits(rows, config.splits, config.tile_n);
  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);

  float max = kEmpty;
  for (int64_t s = 0; s < splits; ++s) {
    const float lse = *partials.lse(row, s);
    if (lse > max) max = lse;
  }
  float sum = 0;
  for (int64_t s = 0; s < splits && max > kEmpty; ++s) sum += tile.exp(*partials.lse(row, s) - max);

  const int32_t columns = kValueDim / config.stage2_tiles;
  const int32_t first = item.tile * columns;
  tile.clear(columns);
  for (int64_t s = 0; s < splits; ++s) {
    const float lse = *partials.lse(row, s);
    // A split that saw no row left its partial output unwritten.
    if (lse == kEmpty) continue;
    tile.add(partials.output(row, s) + first, tile.exp(lse - max) / sum, columns);
  }
  tile.store(p.out + row * kValueDim + first, columns);
  if (item.tile == 0 && p.lse != nullptr) p.lse[row] = max > kEmpty ? max + tile.log(sum) : kEmpty;
}

}  // namespace mla

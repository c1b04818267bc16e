// SPDX-License-Identifier: MIT
// Stage 1, written once over tile operations: a row group walks its KV range in blocks with a ring
// of asynchronous copies and an online softmax, then writes either the output or one partial
// result.
//
// A Tile class is what a target implements. Scores are in units of log2, so that a power of two is
// the only exponential a target needs.
//   kGroupRows                 query rows that it has room for
//   Rows                       per-row scalars of this thread: kCount floats, operator[]
//   row_index(i)               row of the group that Rows[i] belongs to
//   load_queries(group)        keeps the queries; clears the accumulator
//   locate(block)              resolves a block's row addresses, one block ahead of its copy
//   issue_copy(slot)           starts to copy the located block into a slot of the ring
//   wait_copies(n)             returns when at most the n youngest copies are outstanding
//   barrier()                  all threads of the workgroup
//   scores(slot, block)        S = scale * log2(e) * Q K^T of a block
//   mask(block, limits)        S = -inf at rows n >= limits[row]
//   row_max()                  of S
//   exponentiate(base)         P = 2^(S - base); returns the row sums
//   accumulate(slot, shrink)   O = shrink * O + P V
//   exp2(rows), log2(row)
//   store(row, scale, pointer) one row of O times scale: bf16 (output) or fp32 (partial result)
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/partition.h"
#include "kernels/row_group.h"
#include "kernels/workspace.h"

namespace mla {

inline constexpr double kLn2 = 0.69314718055994530942;
inline constexpr float kLog2e = 1.44269504f;

// From products of queries and rows to scores in units of log2.
constexpr float score_scale(const DecodeParams& p) {
  return p.softmax_scale * p.kv_scale * kLog2e;
}

// The ring of copies as data. Block i lives in slot i % stages.
struct PipelineSchedule {
  int32_t stages = 2;
  int32_t ahead = 1;      // blocks whose copies are issued before their turn
  bool drain = true;      // a wait retires every copy, not only the block's own and older ones
  int32_t unretired = 0;  // copies fewer than needed that a wait retires: a fault that tests inject

  // Copies that may be outstanding after the wait for a block with `younger` issued behind it.
  constexpr int32_t outstanding(int64_t younger) const {
    return (drain ? 0 : static_cast<int32_t>(younger)) + unretired;
  }
};

// A slot is free again once its block is computed, so the copy of block i + stages - 1 is issued
// right after the wait for block i. A partial wait then leaves the younger copies in flight.
constexpr PipelineSchedule make_schedule(const KernelConfig& config) {
  return {config.stages, config.stages - 1, config.wait == Wait::kDrain, 0};
}

struct KvBlock {
  int64_t begin = 0;  // row of the request
  int32_t rows = 0;   // 1..tile_n
};

// The blocks of one split.
struct BlockWalk {
  RowRange range;
  int32_t tile_n = 0;

  constexpr int64_t count() const { return block_count(range.end - range.begin, tile_n); }
  constexpr KvBlock operator[](int64_t i) const {
    const int64_t begin = range.begin + i * tile_n;
    const int64_t rest = range.end - begin;
    return {begin, static_cast<int32_t>(rest < tile_n ? rest : tile_n)};
  }
};

template <class Rows>
struct SoftmaxState {
  Rows max;  // log2 units
  Rows sum;  // of 2^(score - max)
};

// The factors by which what was summed so far shrinks, and in `base` what to subtract from the
// block's scores. A row that has seen nothing yet has max = -inf: its base is 0 then, so that no
// infinity meets another one.
template <class Tile>
constexpr typename Tile::Rows raise_max(Tile& tile,
                                        SoftmaxState<typename Tile::Rows>* state,
                                        typename Tile::Rows* base) {
  using Rows = typename Tile::Rows;
  const Rows block_max = tile.row_max();
  Rows shrink;
  for (int i = 0; i < Rows::kCount; ++i) {
    const float max = block_max[i] > state->max[i] ? block_max[i] : state->max[i];
    (*base)[i] = max == -std::numeric_limits<float>::infinity() ? 0.0f : max;
    shrink[i] = state->max[i] - (*base)[i];
    state->max[i] = max;
  }
  return tile.exp2(shrink);
}

// One block's scores into the running softmax; returns the factors of raise_max.
template <class Tile>
constexpr typename Tile::Rows update_softmax(Tile& tile, SoftmaxState<typename Tile::Rows>* state) {
  using Rows = typename Tile::Rows;
  Rows base;
  const Rows shrink = raise_max(tile, state, &base);
  const Rows block_sum = tile.exponentiate(base);
  for (int i = 0; i < Rows::kCount; ++i) {
    state->sum[i] = state->sum[i] * shrink[i] + block_sum[i];
  }
  return shrink;
}

// Where the cached rows end for each query row: at the range's end or at its visible length.
template <class Tile>
struct RowLimits {
  int64_t end[Tile::kGroupRows];

  RowLimits(const DecodeParams& p, const RowGroup& group, int64_t cached_rows, int64_t range_end) {
    for (int r = 0; r < Tile::kGroupRows; ++r) {
      end[r] = r < group.rows ? group.visible(p, cached_rows, r) : range_end;
      if (end[r] > range_end) end[r] = range_end;
    }
  }
  // Blocks that end before it need no mask: later query rows see no less.
  int64_t unmasked_end() const { return end[0]; }
};

template <class Tile>
void walk_blocks(Tile& tile,
                 const BlockWalk& walk,
                 const RowLimits<Tile>& limits,
                 const PipelineSchedule& schedule,
                 SoftmaxState<typename Tile::Rows>* state) {
  const int64_t blocks = walk.count();

  int64_t issued = 0;
  const auto issue_next = [&] {
    tile.issue_copy(static_cast<int32_t>(issued % schedule.stages));
    if (++issued < blocks) tile.locate(walk[issued]);
  };
  if (blocks > 0) tile.locate(walk[0]);
  while (issued < schedule.ahead && issued < blocks) issue_next();

  for (int64_t i = 0; i < blocks; ++i) {
    tile.wait_copies(schedule.outstanding(issued - i - 1));
    tile.barrier();
    if (issued < blocks) issue_next();

    const int32_t slot = static_cast<int32_t>(i % schedule.stages);
    const KvBlock block = walk[i];
    tile.scores(slot, block);
    if (block.begin + walk.tile_n > limits.unmasked_end()) tile.mask(block, limits.end);
    const auto shrink = update_softmax(tile, state);
    tile.accumulate(slot, shrink);
  }
}

// An unsplit launch writes the output itself; a split one leaves partial results for stage 2.
template <class Tile>
void store_results(Tile& tile,
                   const DecodeParams& p,
                   const KernelConfig& config,
                   const RowGroup& group,
                   int64_t split,
                   const SoftmaxState<typename Tile::Rows>& state) {
  using Rows = typename Tile::Rows;
  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
  for (int i = 0; i < Rows::kCount; ++i) {
    const int r = tile.row_index(i);
    if (r >= group.rows) continue;
    const int64_t row = group.output_row(p, r);
    const bool empty = state.sum[i] == 0.0f;
    const float scale = empty ? 0.0f : 1.0f / state.sum[i];
    const float lse = empty ? -std::numeric_limits<float>::infinity()
                            : (state.max[i] + tile.log2(state.sum[i])) * static_cast<float>(kLn2);
    if (config.splits == 1) {
      tile.store(r, scale, p.out + row * kValueDim);
      if (p.lse != nullptr) p.lse[row] = lse;
    } else {
      if (!empty) tile.store(r, scale, partials.output(row, split));
      *partials.lse(row, split) = lse;
    }
  }
}

template <class Tile>
void stage1(Tile& tile,
            const DecodeParams& p,
            const KernelConfig& config,
            const PipelineSchedule& schedule,
            const Stage1Item& item) {
  const int64_t groups = request_groups(query_rows(p), config.group_rows);
  const RowGroup group = row_group(p, config.group_rows, item.group / groups, item.group % groups);
  const int64_t rows = request_rows(p, group.request);
  // Surplus splits have no place in the merge; split 0 of an unsplit launch also serves empty
  // requests.
  if (config.splits > 1 && item.split >= effective_splits(rows, config.splits, config.tile_n))
    return;

  RowRange range = split_range(rows, config.splits, config.tile_n, item.split);
  const int64_t visible = group.visible(p, rows, group.rows - 1);
  if (range.end > visible) range.end = visible;
  if (range.begin > range.end) range.begin = range.end;  // every row of this split is masked

  SoftmaxState<typename Tile::Rows> state;
  for (int i = 0; i < Tile::Rows::kCount; ++i) {
    state.max[i] = -std::numeric_limits<float>::infinity();
    state.sum[i] = 0.0f;
  }
  tile.load_queries(group);
  const RowLimits<Tile> limits(p, group, rows, range.end);
  walk_blocks(tile, {range, config.tile_n}, limits, schedule, &state);
  store_results(tile, p, config, group, item.split, state);
}

}  // namespace mla

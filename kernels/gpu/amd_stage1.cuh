// SPDX-License-Identifier: MIT
// Stage 1 on AMD: a workgroup of four waves walks the blocks of one split. Before a block is
// computed the copies of the youngest block that has a free stage are issued; the wait for the
// block's own leaves all of those in flight.
#pragma once

#include "kernels/gpu/amd_bh16_tile.cuh"
#include "kernels/stage1.h"

namespace mla::gpu {

// The wait for a block with `younger` ones issued behind it, at most kMost of them.
template <int kCopies, int kMost>
__device__ void wait_block(int younger) {
  if constexpr (kMost > 0) {
    if (younger >= kMost) return wait_copies<kMost * kCopies>();
    return wait_block<kCopies, kMost - 1>(younger);
  } else {
    wait_copies<0>();
  }
}

template <class Tile, class Work>
__device__ void store_work(const Tile& tile,
                           const DecodeParams& p,
                           const KernelConfig& config,
                           const Work& work,
                           const SoftmaxState<typename Tile::Rows>& state) {
  if (Tile::query_row() >= work.group.rows) return;
  const WorkspaceView partials(p.workspace, int64_t{p.batch} * p.q_len * p.nhead, config.splits);
  const int64_t row = work.group.output_row(p, Tile::query_row());
  const bool empty = state.sum[0] == 0.0f;
  const float scale = empty ? 0.0f : reciprocal_approx(state.sum[0]);
  const float lse =
      empty ? -INFINITY : (state.max[0] + log2_approx(state.sum[0])) * static_cast<float>(kLn2);
  float* lse_target = nullptr;
  if (work.unsplit) {
    tile.store(scale, p.out + row * kValueDim);
    if (p.lse != nullptr) lse_target = p.lse + row;
  } else {
    // Of a split that saw no row only the LSE is read.
    if (!empty) tile.store(scale, partials.output(row, work.split));
    lse_target = partials.lse(row, work.split);
  }
  const bool writer = threadIdx.x < 16;
  if (writer && lse_target != nullptr) *lse_target = lse;
}

// kMaths = false: the same gather without the products, whose time is the roof of this kernel.
template <int kTileN, int kStages, Wait kWait, class Pool, bool kMaths>
__device__ void stage1_bh16(const DecodeParams& p, const KernelConfig& config) {
  using Tile = Bh16Tile<kTileN>;
  using Ring = CopyRing<kTileN, kStages, Pool>;
  constexpr AmdLayout kLayout = {kTileN, kStages};
  constexpr int kAhead = kStages - 1;
  constexpr int kYounger = kWait == Wait::kDrain ? 0 : kAhead;
  const Stage1Work<kTileN, Tile::kGroupRows> work(p, config, static_cast<int32_t>(blockIdx.x));
  if (work.idle) return;
  const int blocks = work.walk.count();

  Tile tile(kLayout.exchange_offset());
  SoftmaxState<typename Tile::Rows> state = {{{-INFINITY}}, {{0}}};
  if (blocks > 0) {
    Ring ring(p, Pool(p.kv, p.kv_rows * p.kv_row_stride * 2), work.pages(p), work.walk);
    ring.prefetch();
    if constexpr (kMaths) {
      // Lanes behind the last row repeat it; what they get is not stored.
      tile.load_queries(work.group.query(p, min(Tile::query_row(), work.group.rows - 1)));
    }
    wait_copies<0>();
    ring.locate();
    for (int i = 0; i < kAhead; ++i) {
      if (i < blocks) {
        ring.issue();
        ring.locate();
      } else {
        ring.advance();
      }
    }
    const auto compute = [&](int block, bool may_be_masked) {
      if constexpr (kMaths) {
        tile.scores(ring.stage(), p.softmax_scale * kLog2e);
        if (may_be_masked && block >= work.first_masked)
          tile.mask(work.attended(p, block, Tile::query_row()));
        const auto shrink = update_softmax(tile, &state);
        tile.accumulate(ring.stage(), shrink);
      }
    };
    // A query position sees at most 7 rows less than the last one, which sees all of the walk.
    constexpr bool kMayBeMasked = kAhead < 2;
    int block = 0;
    for (; block < blocks - kAhead; ++block) {
      ring.issue();
      ring.locate();
      wait_copies<kYounger * Ring::kCopies>();
      barrier();
      compute(block, kMayBeMasked);
      barrier();  // the stage is free
    }
    for (; block < blocks; ++block) {
      ring.advance();
      wait_block<Ring::kCopies, (kYounger > 0 ? kAhead - 1 : 0)>(blocks - 1 - block);
      barrier();
      compute(block, true);
    }
  }
  if constexpr (kMaths) {
    state.sum = Tile::total(state.sum);
    store_work(tile, p, config, work, state);
  }
}

// Of one program for several targets: nothing on a target whose LDS is too small for the ring,
// where it is never launched.
template <int kTileN, int kStages, Wait kWait, class Pool, bool kMaths>
__device__ void stage1_where_it_fits(const DecodeParams& p, const KernelConfig& config) {
  if constexpr (AmdLayout{kTileN, kStages}.bytes() <= kTargetLdsBytes) {
    stage1_bh16<kTileN, kStages, kWait, Pool, kMaths>(p, config);
  }
}

}  // namespace mla::gpu

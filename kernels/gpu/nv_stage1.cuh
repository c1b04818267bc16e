// SPDX-License-Identifier: MIT
// Stage 1 on NVIDIA: a workgroup is one to three teams of four consumer warps and their producers.
// Several teams of a row group of 16 take the blocks of the split in turn, each with its own ring
// and softmax, and merge at the end (nv_epilogue.cuh); so no warp waits for another team while it
// walks. Those of a row group of 32 walk all blocks, in one ring, each for 16 query rows.
#pragma once

#include "kernels/gpu/nv_epilogue.cuh"
#include "kernels/gpu/nv_ring.cuh"
#include "kernels/stage1.h"

namespace mla::gpu {

template <class Tile, class Work>
__device__ void load_queries(Tile& tile, const DecodeParams& p, const Work& work) {
  const uint16_t* query[2];
  for (int i = 0; i < 2; ++i) {
    const int32_t row = Tile::row_index(i);
    query[i] = row < work.group.rows ? work.group.query(p, row) : nullptr;
  }
  tile.load_queries(query);
}

// Where a team stands in its ring: at the block that is due and at the youngest one issued before
// that is done.
struct ConsumerPosition {
  RingPosition own, youngest;

  __device__ explicit ConsumerPosition(const Ring& ring) {
    youngest.advance(ring.stages() - 2, ring.stages());
  }
};

template <class Tile, class Work>
__device__ void consume_in_turn(Tile& tile,
                                const DecodeParams& p,
                                const Ring& ring,
                                const Work& work,
                                int first,
                                int step,
                                bool drain,
                                ConsumerPosition* position,
                                SoftmaxState<typename Tile::Rows>* state) {
  const float scale = score_scale(p);
  const int blocks = work.walk.count();
  const int depth = (ring.stages() - 2) * step;  // from `own` to `youngest`
  auto& [own, youngest] = *position;
  for (int i = first; i < blocks; i += step) {
    wait_barrier(ring.full(own.slot), own.parity);
    // Those between were waited for at the blocks before.
    if (drain && i + depth < blocks) wait_barrier(ring.full(youngest.slot), youngest.parity);
    const uint32_t stage = ring.stage(own.slot);
    tile.begin_scores(stage);
    tile.add_scores(scale);
    tile.end_scores(scale);
    if (i >= work.first_masked) {
      tile.mask([&](int row) { return work.attended(p, i, row); });
    }
    const auto shrink = update_softmax(tile, state);
    tile.accumulate(stage, shrink);
    __syncwarp();
    if (Tile::lane() == 0) arrive(ring.empty(own.slot));
    own.advance(1, ring.stages());
    youngest.advance(1, ring.stages());
  }
}

// The scores of a block begin before the rest of the block before it is done.
template <class Tile, class Work>
__device__ void consume_overlapped(Tile& tile,
                                   const DecodeParams& p,
                                   const Ring& ring,
                                   const Work& work,
                                   int first,
                                   int step,
                                   bool drain,
                                   ConsumerPosition* position,
                                   SoftmaxState<typename Tile::Rows>* state) {
  const float scale = score_scale(p);
  const int blocks = work.walk.count();
  const int depth = (ring.stages() - 2) * step;
  auto& [own, youngest] = *position;
  int held = 0;  // slot of block i - step
  typename Tile::Rows shrink;
  for (int i = first; i < blocks + step; i += step) {
    const bool begins = i < blocks, ends = i != first;
    if (begins) {
      wait_barrier(ring.full(own.slot), own.parity);
      if (drain && i + depth < blocks) wait_barrier(ring.full(youngest.slot), youngest.parity);
      tile.begin_scores(ring.stage(own.slot));
    }
    if (ends) {
      if constexpr (Tile::kLateScores) tile.end_scores_late(begins);
      if (i - step >= work.first_masked) {
        tile.mask([&](int row) { return work.attended(p, i - step, row); });
      }
      shrink = update_softmax(tile, state);
    }
    if (begins) tile.add_scores(scale);
    if (ends) {
      tile.accumulate(ring.stage(held), shrink);
      __syncwarp();
      if (Tile::lane() == 0) arrive(ring.empty(held));
    }
    if (begins) {
      if constexpr (!Tile::kLateScores) tile.end_scores(scale);
      held = own.slot;
      own.advance(1, ring.stages());
      youngest.advance(1, ring.stages());
    }
  }
}

// One team's blocks: `first`, `first + step`, ... Overlapped for fp8 rows alone, which come twice
// as fast as bf16 ones. (Two bf16 teams on one ring: 219 us overlapped, 196 in turn.)
template <class Tile, class Work>
__device__ void consume(Tile& tile,
                        const DecodeParams& p,
                        const Ring& ring,
                        const Work& work,
                        int first,
                        int step,
                        bool drain,
                        ConsumerPosition* position,
                        SoftmaxState<typename Tile::Rows>* state) {
  if constexpr (Tile::kKvDtype == KvDtype::kFp8) {
    consume_overlapped(tile, p, ring, work, first, step, drain, position, state);
  } else {
    consume_in_turn(tile, p, ring, work, first, step, drain, position, state);
  }
  state->sum = Tile::total(state->sum);
}

// A team that only empties its ring.
__device__ inline void release_only(const Ring& ring, int blocks, int first, int step) {
  RingPosition position;
  for (int i = first; i < blocks; i += step) {
    wait_barrier(ring.full(position.slot), position.parity);
    __syncwarp();  // a lane that still polls would miss the phase once the slot is filled again
    if (threadIdx.x % 32 == 0) arrive(ring.empty(position.slot));
    position.advance(1, ring.stages());
  }
}

// Registers a thread where several teams have an SM alone and their producers are a warpgroup: what
// these do not need goes to the consumers. 128 x 72 + 256 x 216 is what a launch of two teams
// allocates, 128 x 32 + 384 x 160 one of three.
template <int kTeams>
inline constexpr int kProducerRegisters = kTeams == 2 ? 72 : 32;
template <int kTeams>
inline constexpr int kConsumerRegisters = kTeams == 2 ? 216 : 160;

// Without setmaxnreg there are too few registers for three teams, and no space has them.
inline constexpr bool kHasThreeTeams =
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    true;
#else
    false;
#endif

// kMaths = false: the same gather without the products, whose time is the roof of this kernel.
template <class Tile, int kTeams, int kGroupRows, bool kMaths>
__global__ void __launch_bounds__(
    Bh16Layout{Tile::kBlockRows, kTeams, 2, Tile::kKvDtype, kGroupRows}.threads(),
    kTeams == 1 ? 2 : 1) stage1_bh16(const DecodeParams p,
                                     const KernelConfig config,
                                     const __grid_constant__ RowMap rows) {
  extern __shared__ __align__(kStageAlignment) uint8_t local[];
  constexpr int kTileN = Tile::kBlockRows;
  constexpr int kTeamsPerRing = kGroupRows / kTeamRows;
  constexpr int kRings = kTeams / kTeamsPerRing;
  constexpr Bh16Layout kShallowest = {kTileN, kTeams, 2, Tile::kKvDtype, kGroupRows};
  constexpr bool kFillsAllRings = kShallowest.common_producers();  // a producer
  constexpr int kProducers = kShallowest.producers_per_ring();
  constexpr bool kSplitRegisters = kTeams > 1 && kMaths;
  if constexpr (kTeams > 2 && !kHasThreeTeams) return;
  const Bh16Layout layout = {kTileN, kTeams, config.stages, Tile::kKvDtype, kGroupRows};
  const int warp = threadIdx.x / 32;
  const bool consumer = warp < kTeams * kWarpsPerTeam;
  const int team = warp / kWarpsPerTeam;
  const int ring_index =
      consumer ? team / kTeamsPerRing : (warp - kTeams * kWarpsPerTeam) / kProducers;
  uint8_t* ring_local = local + ring_index * layout.ring_bytes();
  const Ring ring(ring_local, layout);
  launch_dependents();
  if (warp % (kTeamsPerRing * kWarpsPerTeam) == 0 && consumer) ring.init();
  const Stage1Work<kTileN, kGroupRows> work(p, config, blockIdx.x);
  __syncthreads();
  if (work.idle) return;

  if (!consumer) {
    if constexpr (kSplitRegisters) lower_registers<kProducerRegisters<kTeams>>();
    constexpr int kAheadRows = kShallowest.index_ahead_rows();
    const int producer = warp % kProducers;
    uint8_t* const index =
        kFillsAllRings ? local + layout.common_index_offset() : ring_local + layout.index_offset();
    auto* index_ring = reinterpret_cast<int32_t*>(index) + producer * 2 * kAheadRows / kProducers;
    const WalkCursor<kTileN> blocks(
        work.pages(p), work.walk, kFillsAllRings ? 0 : ring_index, kFillsAllRings ? 1 : kRings);
    const RowSource source(p, rows, element_bytes(Tile::kKvDtype));
    const auto filled = [&] {
      if constexpr (kFillsAllRings) {
        return RingsInTurn<kRings>(local, layout);
      } else {
        return ring;
      }
    }();
    produce<kTileN, Tile::kKvDtype, kProducers, kAheadRows>(
        filled, source, blocks, index_ring, producer);
  } else if constexpr (!kMaths) {
    release_only(ring, work.walk.count(), ring_index, kRings);
  } else {
    if constexpr (kSplitRegisters) raise_registers<kConsumerRegisters<kTeams>>();
    const int part = team % kTeamsPerRing;  // of the row group
    uint8_t* exchange = ring_local + layout.exchange_offset() + part * layout.exchange_bytes();
    Tile tile(reinterpret_cast<float4*>(exchange), kTeamBarrier + team);
    const auto own = work.behind(part * kTeamRows);
    load_queries(tile, p, own);
    if constexpr (kTeams > 2) {
      tile.share_queries(reinterpret_cast<uint4*>(local + layout.queries_offset()), team == 0);
      named_barrier(kThreeTeamsBarrier, kTeams * kTeamThreads);
    }
    ConsumerPosition position(ring);
    SoftmaxState<typename Tile::Rows> state = {{{-INFINITY, -INFINITY}}, {{0, 0}}};
    const bool drain = config.wait == Wait::kDrain;
    consume(tile, p, ring, own, ring_index, kRings, drain, &position, &state);
    finish_work<kTeams, kRings>(tile, p, config, own, local, layout.ring_bytes(), team, &state);
  }
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Stage 1 of the persistent schedule on NVIDIA: a workgroup is one team, two run on an SM, and each
// walks the pieces of its share. (Of a row group of 32, two teams, and one workgroup an SM.) The
// ring goes on from piece to piece: while the consumers store one and load the queries of the next,
// its rows are already on their way.
#pragma once

#include "kernels/gpu/nv_shares.cuh"
#include "kernels/gpu/nv_stage1.cuh"

namespace mla::gpu {

// The blocks of a share, over all its pieces.
template <int kTileN, int kGroupRows>
class ShareCursor {
 public:
  __device__ ShareCursor(const DecodeParams& p, const ShareWalk<int32_t>& pieces)
      : p_(p), pieces_(pieces), work_(p, pieces.piece()), pages_(work_.pages(p)), block_(0) {
    skip_pieces();
  }

  __device__ bool done() const { return pieces_.done(); }
  __device__ void advance(int blocks) {
    block_ += blocks;
    skip_pieces();
  }
  __device__ const int32_t* pages() const { return pages_; }
  __device__ int first_row() const { return work_.walk.first_row(block_); }
  __device__ int rows() const { return work_.walk.rows(block_); }

 private:
  __device__ void skip_pieces() {
    while (!pieces_.done() && block_ >= work_.walk.count()) {
      block_ -= work_.walk.count();
      pieces_.next();
      if (pieces_.done()) return;
      work_ = Stage1Work<kTileN, kGroupRows>(p_, pieces_.piece());
      pages_ = work_.pages(p_);
    }
  }

  const DecodeParams& p_;
  ShareWalk<int32_t> pieces_;
  Stage1Work<kTileN, kGroupRows> work_;
  const int32_t* pages_;
  int block_;  // of the piece
};

template <class Tile, int kGroupRows>
__global__ void __launch_bounds__(
    Bh16Layout{Tile::kBlockRows, kGroupRows / kTeamRows, 2, Tile::kKvDtype, kGroupRows}.threads(),
    2 * kTeamRows / kGroupRows) stage1_bh16_persistent(const DecodeParams p,
                                                       const KernelConfig config,
                                                       const __grid_constant__ RowMap rows) {
  extern __shared__ __align__(kStageAlignment) uint8_t local[];
  constexpr int kTileN = Tile::kBlockRows;
  constexpr int kTeams = kGroupRows / kTeamRows;
  constexpr int kProducers = kTeams * kProducersPerTeam;
  const Bh16Layout layout = {kTileN, kTeams, config.stages, Tile::kKvDtype, kGroupRows};
  const Ring ring(local, layout);
  const auto share = static_cast<int32_t>(blockIdx.x);
  launch_dependents();
  if (threadIdx.x < 32) ring.init();
  const BlockUnit unit(p, kTileN, kGroupRows);
  const LengthSums sums = sum_lengths(p, unit, 0, threadIdx.x % 32, 32);
  const BasicShares<int32_t> shares =
      shares_of(unit, config, sums, static_cast<int32_t>(gridDim.x));
  __syncthreads();
  if (share >= shares.count) return;
  ShareWalk<int32_t> pieces = share_walk(p, unit, shares, share);

  const int warp = threadIdx.x / 32;
  if (warp >= kTeams * kWarpsPerTeam) {
    if constexpr (kTeams == 2) lower_registers<kProducerRegisters<kTeams>>();
    const int producer = warp - kTeams * kWarpsPerTeam;
    auto* index_ring = reinterpret_cast<int32_t*>(local + layout.index_offset()) +
                       producer * 2 * kIndexAheadRows / kProducers;
    const ShareCursor<kTileN, kGroupRows> blocks(p, pieces);
    const RowSource source(p, rows, element_bytes(Tile::kKvDtype));
    produce<kTileN, Tile::kKvDtype, kProducers, kIndexAheadRows>(
        ring, source, blocks, index_ring, producer);
    return;
  }
  if constexpr (kTeams == 2) raise_registers<kConsumerRegisters<kTeams>>();
  const int team = warp / kWarpsPerTeam;
  uint8_t* exchange = local + layout.exchange_offset() + team * layout.exchange_bytes();
  Tile tile(reinterpret_cast<float4*>(exchange), kTeamBarrier + team);
  ConsumerPosition position(ring);
  for (; !pieces.done(); pieces.next()) {
    const auto work = Stage1Work<kTileN, kGroupRows>(p, pieces.piece()).behind(team * kTeamRows);
    load_queries(tile, p, work);
    SoftmaxState<typename Tile::Rows> state = {{{-INFINITY, -INFINITY}}, {{0, 0}}};
    consume(tile, p, ring, work, 0, 1, config.wait == Wait::kDrain, &position, &state);
    store_work<Tile::kOutputTiles>(
        tile, p, config, work, work.unsplit, Tile::first_column(), true, state);
  }
}

// Null where the shape has none: of two rings a workgroup, and of larger tiles.
template <class Tile, int kTeams, int kGroupRows>
const void* persistent_kernel() {
  if constexpr (kTeams == kGroupRows / kTeamRows && Tile::kBlockRows <= 32)
    return reinterpret_cast<const void*>(&stage1_bh16_persistent<Tile, kGroupRows>);
  return nullptr;
}

}  // namespace mla::gpu

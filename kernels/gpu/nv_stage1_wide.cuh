// SPDX-License-Identifier: MIT
// Stage 1 for row groups of 64 and 128 rows on sm_90a: warpgroups with roles. One makes the scores
// and the softmax, two keep a half each of the 64 x 512 output and multiply weights by values, one
// copies. A group of 128 rows is a cluster of two workgroups that share the cached rows.
#pragma once

#include "kernels/gpu/nv_wide_values.cuh"

namespace mla::gpu {

// Registers a thread, 512 in all: scores, two times values, copies. Rows that are gathered take a
// thread more than tiles.
template <Gather kGather>
inline constexpr int kCopyRegisters = kGather == Gather::kTiles ? 24 : 32;
template <Gather kGather>
inline constexpr int kScoreRegisters = kGather == Gather::kTiles ? 168 : 160;
inline constexpr int kValueRegisters = 160;

// A hardware barrier beside __syncthreads' and those of the value warpgroups.
inline constexpr int kQueryBarrier = kValueBarrier + 2;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// By the consumers: the panels of the queries that stay in shared memory. Rows that the group lacks
// are zeros.
template <class Work>
__device__ void store_query_panels(const DecodeParams& p,
                                   const Work& work,
                                   int first_row,
                                   uint8_t* panels) {
  constexpr int kRowPieces = kQueryPanels * 8;  // of 16 bytes
#pragma unroll 1
  for (int i = threadIdx.x; i < kWideRows * kRowPieces; i += 32 * kWideConsumerWarps) {
    const int row = i / kRowPieces, piece = i % kRowPieces;
    uint8_t* target =
        panels + piece / 8 * kPanelBytes + row * kPanelRowBytes + (piece % 8 ^ row % 8) * 16;
    uint4 value = {};
    if (first_row + row < work.group.rows) {
      const uint16_t* source = work.group.query(p, first_row + row) + piece * 8;
      if (reinterpret_cast<uintptr_t>(source) % 16 == 0) {
        copy16_async(shared_address(target), source);
        continue;
      }
      const auto pair = [source](int j) { return source[j] | uint32_t{source[j + 1]} << 16; };
      value = {pair(0), pair(2), pair(4), pair(6)};
    }
    *reinterpret_cast<uint4*>(target) = value;
  }
  commit_copies();
  wait_copies<0>();
  fence_async();
}

// What consumes nothing and only empties the ring: the key panels, or half of the pairs
// of every block.
template <class Ring>
__device__ void release_ropes(const Ring& ring, int blocks) {
  PanelPosition at;
  for (int block = 0; block < blocks; ++block, at.next_rope()) {
    ring.wait_full(Ring::unit(at, true), at.rope.parity);
    ring.release(Ring::unit(at, true));
  }
}

template <class Ring>
__device__ void release_pairs(const Ring& ring, int blocks, int half) {
  PanelPosition at;
  for (int pair = 0; pair < blocks * kBlockPairs; ++pair, at.next_pair()) {
    if (pair % kBlockPairs / (kBlockPairs / 2) != half) continue;
    ring.wait_full(Ring::unit(at, false), at.pair.parity);
    ring.release(Ring::unit(at, false));
  }
}
#endif

// kMaths = false: the same copies without the products.
template <int kGroupRows, Gather kGather, bool kMaths>
__global__ void __launch_bounds__(kWideThreads, 1) stage1_wide(const DecodeParams p,
                                                               const KernelConfig config,
                                                               const __grid_constant__ RowMap map) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(kPanelAlignment) uint8_t local[];
  constexpr int kWorkgroups = group_workgroups(kGroupRows);
  constexpr bool kPair = kWorkgroups == 2 && kGather == Gather::kTiles;
  using Ring = PanelRing<kGather, kPair>;
  using Work = Stage1Work<kWideTileN, kGroupRows>;
  const int warp = threadIdx.x / 32;
  const Ring ring(local);
  const Weights weights(local);
  launch_dependents();
  if (warp == 0) ring.init();
  if (threadIdx.x == 32) weights.init();
  const Work work(p, config, blockIdx.x / kWorkgroups);
  if (work.idle) return;
  const int first_row = blockIdx.x % kWorkgroups * kWideRows;
  static_assert(WideLayout::results() + sizeof(ResultRows) <= WideLayout::bytes());
  auto* results = reinterpret_cast<ResultRows*>(local + WideLayout::results());
  if (threadIdx.x == 0) *results = ResultRows(p, config, work, first_row);
  __syncthreads();
  if constexpr (kPair) {
    arrive_cluster();
    wait_cluster();
  }

  if (warp >= kWideConsumerWarps) {
    lower_registers<kCopyRegisters<kGather>>();
    const RowSource source(p, map, element_bytes(KvDtype::kBf16));
    if constexpr (kGather == Gather::kTiles) {
      if (threadIdx.x % kWarpgroupThreads == 0)
        copy_tiles(ring, source, work.pages(p), work.walk, kWorkgroups);
      __syncwarp();
    } else {
      RowGatherer<Ring>(ring, source, work.pages(p), work.walk).run();
    }
  } else if constexpr (!kMaths) {
    const int blocks = work.walk.count();
    warp < kWarpgroupWarps ? release_ropes(ring, blocks)
                           : release_pairs(ring, blocks, warp / kWarpgroupWarps - 1);
  } else {
    store_query_panels(p, work, first_row, local + WideLayout::queries());
    named_barrier(kQueryBarrier, 32 * kWideConsumerWarps);
    if (warp < kWarpgroupWarps) {
      raise_registers<kScoreRegisters<kGather>>();
      Scores<Ring> scores(
          p, work, ring, weights, shared_address(local) + WideLayout::queries(), first_row);
      scores.run();
      scores.finish(*results);
    } else {
      raise_registers<kValueRegisters>();
      Values<Ring> values(work.walk, ring, weights, warp / kWarpgroupWarps - 1);
      values.run();
      values.finish(*results);
    }
  }
  if constexpr (kPair) {  // the other one's copies and arrivals still come here
    arrive_cluster();
    wait_cluster();
  }
#endif
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Stage 1 for row groups of 64 and 128 rows on sm_90a: two warpgroups consume
// (nv_wide_consumer.cuh), one copies. A group of 128 rows is a cluster of two workgroups that share
// the cached rows.
#pragma once

#include "kernels/gpu/nv_wide_consumer.cuh"

namespace mla::gpu {

// Registers a thread: 504 are what a launch gives the two consumers and the copies. Rows that are
// gathered take a thread more than tiles.
template <Gather kGather>
inline constexpr int kWideCopyRegisters = kGather == Gather::kTiles ? 24 : 40;
template <Gather kGather>
inline constexpr int kWideConsumerRegisters = (504 - kWideCopyRegisters<kGather>) / 2;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// By the consumers: starts to copy the panels of the queries that stay in shared memory. Rows that
// the group lacks are zeros.
template <class Work>
__device__ void copy_query_panels(const DecodeParams& p,
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
}

// Consumes nothing and only empties the ring.
template <class Ring>
__device__ void release_only(const Ring& ring, int blocks, int side) {
  for (int block = 0; block < blocks; ++block) {
    visit_units<Ring>(Ring::stage(block), [&](int unit, int panel, int) {
      const bool rope = panel == kValuePanels;
      const int reader = rope ? Ring::stage(block) : panel / (kSidePairs * kPairPanels);
      if (reader != side) return;
      ring.wait_full(unit, Ring::parity(block));
      ring.release(unit);
    });
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
  const Exchange exchange(local);
  launch_dependents();
  if (warp == 0) ring.init();
  if (threadIdx.x == 32) exchange.init();
  if constexpr (kPair) arrive_cluster();
  const Work work(p, config, blockIdx.x / kWorkgroups);
  if (work.idle) return;
  const int first_row = blockIdx.x % kWorkgroups * kWideRows;
  static_assert(WideLayout::results() + sizeof(ResultRows) <= WideLayout::bytes());
  auto* results = reinterpret_cast<ResultRows*>(local + WideLayout::results());
  if (threadIdx.x == 0) *results = ResultRows(p, config, work, first_row);
  if constexpr (kPair) wait_cluster();
  __syncthreads();

  if (warp >= kWideConsumerWarps) {
    lower_registers<kWideCopyRegisters<kGather>>();
    const RowSource source(p, map, element_bytes(KvDtype::kBf16));
    if constexpr (kGather == Gather::kTiles) {
      if (threadIdx.x % kWarpgroupThreads == 0)
        copy_tiles(ring, source, work.pages(p), work.walk, kWorkgroups);
      __syncwarp();
    } else {
      RowGatherer<Ring>(ring, source, work.pages(p), work.walk).run();
    }
  } else if constexpr (!kMaths) {
    release_only(ring, work.walk.count(), warp / kWarpgroupWarps);
  } else {
    raise_registers<kWideConsumerRegisters<kGather>>();
    copy_query_panels(p, work, first_row, local + WideLayout::queries());
    const auto own = work.behind(first_row);
    const uint32_t queries = shared_address(local) + WideLayout::queries();
    const auto consume = [&](auto consumer) {
      exchange.wait_queries();
      consumer.run();
      consumer.finish(*results);
    };
    if (warp < kWarpgroupWarps) {
      consume(WideConsumer<Ring, 0>(p, own, ring, exchange, queries));
    } else {
      consume(WideConsumer<Ring, 1>(p, own, ring, exchange, queries));
    }
  }
  if constexpr (kPair) {  // the other one's copies and arrivals still come here
    arrive_cluster();
    wait_cluster();
  }
#endif
}

}  // namespace mla::gpu

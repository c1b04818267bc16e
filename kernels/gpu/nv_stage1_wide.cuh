// SPDX-License-Identifier: MIT
// Stage 1 for row groups of 64 and 128 rows on sm_90a: two warpgroups consume
// (nv_wide_consumer.cuh), one copies. A group of 128 rows is a cluster of two workgroups that share
// the cached rows.
#pragma once

#include "kernels/gpu/nv_wide_consumer.cuh"
#include "kernels/gpu/nv_wide_queries.cuh"

namespace mla::gpu {

// Registers a thread: 504 are what a launch gives the two consumers and the copies. Rows that are
// gathered take a thread more than tiles.
template <Gather kGather>
inline constexpr int kWideCopyRegisters = kGather == Gather::kTiles ? 24 : 40;
template <Gather kGather>
inline constexpr int kWideConsumerRegisters = (504 - kWideCopyRegisters<kGather>) / 2;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
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
  constexpr bool kCluster = kWorkgroups == 2 && kGather == Gather::kTiles;
  using Ring = PanelRing<kGather, kCluster>;
  using Work = Stage1Work<kWideTileN, kGroupRows>;
  const int warp = threadIdx.x / 32;
  const Ring ring(local);
  const Exchange exchange(local);
  const int32_t workgroup = blockIdx.x / kWorkgroups;
  const int first_row = blockIdx.x % kWorkgroups * kWideRows;
  launch_dependents();
  if (warp == 0) ring.init();
  if (threadIdx.x == 32) exchange.init();
  if constexpr (kCluster) {
    arrive_cluster();
    wait_cluster();
  } else {
    __syncthreads();
  }
  if (warp < kWideConsumerWarps) {  // these need no length, which takes a while to come
    const Stage1Item item = stage1_item<int32_t>(p, config, kGroupRows, workgroup);
    const auto group = uniform_group<kGroupRows>(p, static_cast<int32_t>(item.group));
    copy_queries(p, group.behind(first_row), local + WideLayout::queries());
  }
  const Work work(p, config, workgroup);
  if (work.idle) {
    wait_copies<0>();
    return;
  }

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
    wait_copies<0>();
    release_only(ring, work.walk.count(), warp / kWarpgroupWarps);
  } else {
    static_assert(WideLayout::results() + sizeof(ResultRows) <= WideLayout::bytes());
    auto* results = reinterpret_cast<ResultRows*>(local + WideLayout::results());
    if (threadIdx.x == 0) *results = ResultRows(p, config, work, first_row);
    __syncwarp();  // setmaxnreg wants the warp together
    raise_registers<kWideConsumerRegisters<kGather>>();
    WideConsumer<Ring> consumer(p, work.behind(first_row), ring, exchange);
    const int side = warp / kWarpgroupWarps;
    consumer.wait_queries(side);
    side == 0 ? consumer.template run<0>() : consumer.template run<1>();
    consumer.finish(side, *results);
  }
  if constexpr (kCluster) {  // the other one's copies and arrivals still come here
    arrive_cluster();
    wait_cluster();
  }
#endif
}

}  // namespace mla::gpu

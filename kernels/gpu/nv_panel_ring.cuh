// SPDX-License-Identifier: MIT
// The copy ring of a wide workgroup: panels of cached rows (wide_layout.h).
// Whole tiles of a page come by the copy engine, where a cluster's workgroups fetch half of the
// rows each for both; rows of smaller pages are gathered by 16-byte copies of a warpgroup.
#pragma once

#include "kernels/gpu/nv_ring.cuh"
#include "kernels/gpu/nv_wgmma.cuh"

namespace mla::gpu {

enum class Gather {
  kTiles,  // pages of at least 64 rows
  kRows,   // pages of any size
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// kCluster: copies go to both workgroups of a cluster of two, whose slots fill and empty together.
template <Gather kGather, bool kCluster>
class PanelRing {
 public:
  __device__ explicit PanelRing(uint8_t* local)
      : base_(shared_address(local)), operand_(panel_operand(base_)) {}

  // Where a block is, and the parity of the round in which it comes there.
  __device__ static constexpr int stage(int block) { return block % kWideStages; }
  __device__ static constexpr uint32_t parity(int block) { return block / kWideStages % 2; }
  // What is filled and emptied together: a pair of a block's value panels, or its key panel.
  __device__ static constexpr int pair_unit(int stage, int pair) {
    return stage * kBlockPairs + pair;
  }
  __device__ static constexpr int rope_unit(int stage) { return kPairUnits + stage; }
  // Pairs of a block lie one behind the other.
  __device__ static constexpr int first_panel(int unit) {
    return unit < kPairUnits ? unit * kPairPanels : kPairUnits * kPairPanels + unit - kPairUnits;
  }
  __device__ uint32_t panel(int slot) const { return base_ + slot * kPanelBytes; }
  // The panel as an operand: the first one's, further on in 16 bytes.
  __device__ uint64_t operand(int slot) const { return operand_ + slot * (kPanelBytes >> 4); }
  __device__ uint32_t full(int unit) const { return base_ + WideLayout::barriers() + unit * 8; }

  // By one warp, before any other use.
  __device__ void init() const {
    constexpr int kFillers = kGather == Gather::kTiles ? 1 : kWarpgroupThreads;
    constexpr int kReleasers = kWarpgroupWarps * (kCluster ? 2 : 1);
    const int unit = threadIdx.x % 32;
    if (unit < kRingUnits) {
      init_barrier(full(unit), kFillers);
      init_barrier(empty(unit), kReleasers);
    }
    fence_barrier_init();
  }

  // Until the panels are there for products.
  __device__ void wait_full(int unit, uint32_t parity) const {
    wait_barrier(full(unit), parity);
    if constexpr (kGather == Gather::kRows) fence_async();
  }

  // Parity 1 of a fresh barrier counts as complete: the first round finds every unit empty.
  __device__ void wait_empty(int unit, uint32_t parity) const {
    wait_barrier(empty(unit), parity ^ 1);
  }

  // By all warps of the warpgroup that reads the panels last.
  __device__ void release(int unit) const {
    __syncwarp();
    const int lane = threadIdx.x % 32;
    if constexpr (kCluster) {
      if (lane < 2) arrive_at(empty(unit), lane);
    } else {
      if (lane == 0) arrive(empty(unit));
    }
  }

 private:
  __device__ uint32_t empty(int unit) const { return full(kRingUnits + unit); }

  uint32_t base_;
  uint64_t operand_;
};

// Calls `visit(unit, panel, count)` for the panels of a stage's block in the order in which they
// become free, are copied and are multiplied: the keys' alone, then those of the side that has the
// block's scores.
template <class Ring, class Visit>
__device__ void visit_units(int stage, Visit visit) {
  visit(Ring::rope_unit(stage), kValuePanels, 1);
#pragma unroll
  for (int i = 0; i < kBlockPairs; ++i) {
    const int pair = stage * kSidePairs ^ i;
    visit(Ring::pair_unit(stage, pair), pair * kPairPanels, kPairPanels);
  }
}

// By one thread. The rows of a block lie in one page.
template <class Ring>
__device__ void copy_tiles(const Ring& ring,
                           const RowSource& source,
                           const int32_t* pages,
                           const Walk<kWideTileN>& walk,
                           int workgroups) {
  constexpr int kHalfRows = kWideTileN / 2;
  const int blocks = walk.count();
  const int rank = workgroups == 2 ? cluster_rank() : 0;
  const auto page_of = [&](int block) {
    return block < blocks ? pages[walk.first_row(block) >> source.page_shift] : 0;
  };
  int32_t page = page_of(0);
  for (int block = 0; block < blocks; ++block) {
    const int32_t next_page = page_of(block + 1);
    const auto row = static_cast<int32_t>(source.row(page, walk.first_row(block)));
    visit_units<Ring>(Ring::stage(block), [&](int unit, int panel, int count) {
      ring.wait_empty(unit, Ring::parity(block));
      const uint32_t full = ring.full(unit);
      uint32_t target = ring.panel(Ring::first_panel(unit));
      arrive_expecting(full, count * kPanelBytes);
      for (int i = 0; i < count; ++i, target += kPanelBytes) {
        const int32_t column = (panel + i) * kPanelColumns;
        if (workgroups == 2) {
          const int first = rank * kHalfRows;
          copy_box_to_pair(target + first * kPanelRowBytes, source.map, column, row + first, full);
        } else {
          copy_box(target, source.map, column, row, full);
        }
      }
    });
    page = next_page;
  }
}

// By a warpgroup: a warp has 16 rows of every block, eight lanes a row. Rows behind the end of the
// range are copies of its last row.
template <class Ring>
class RowGatherer {
 public:
  __device__ RowGatherer(const Ring& ring,
                         const RowSource& source,
                         const int32_t* pages,
                         const Walk<kWideTileN>& walk)
      : ring_(ring), source_(source), pages_(pages), walk_(walk), blocks_(walk.count()) {}

  __device__ void run() {
    // Page numbers are fetched two blocks at a time, a lane each, two to four blocks ahead.
    int32_t even = fetch_pages(0), odd = fetch_pages(2);
    for (int block = 0; block < blocks_; block += 4) {
      copy_blocks(block, even);
      even = fetch_pages(block + 4);
      copy_blocks(block + 2, odd);
      odd = fetch_pages(block + 6);
    }
  }

 private:
  static constexpr int kWarpRows = 16;
  static constexpr int kLaneRows = 4;

  __device__ int row_number(int block, int row_of_warp) const {
    const int warp = threadIdx.x / 32 % 4;
    return min(walk_.first_row(block) + warp * kWarpRows + row_of_warp, walk_.end - 1);
  }

  __device__ int32_t fetch_pages(int block) const {
    const int lane = threadIdx.x % 32;
    block += lane / kWarpRows;
    return block < blocks_ ? pages_[row_number(block, lane % kWarpRows) >> source_.page_shift] : 0;
  }

  __device__ void copy_blocks(int first, int32_t page) {
#pragma unroll 1
    for (int i = 0; i < 2 && first + i < blocks_; ++i) copy_block(first + i, i * kWarpRows, page);
  }

  __device__ void copy_block(int block, int first_lane, int32_t pages) {
    const int lane = threadIdx.x % 32;
    const uint8_t* rows[kLaneRows];
#pragma unroll
    for (int i = 0; i < kLaneRows; ++i) {
      const int row_of_warp = i * 4 + lane / 8;
      const int32_t page = __shfl_sync(~0u, pages, first_lane + row_of_warp);
      const int64_t row = source_.row(page, row_number(block, row_of_warp));
      rows[i] = source_.pool + row * source_.row_bytes + lane % 8 * 16;
    }
    const uint32_t target = (threadIdx.x / 32 % 4 * kWarpRows + lane / 8) * kPanelRowBytes;
    visit_units<Ring>(Ring::stage(block), [&](int unit, int panel, int count) {
      ring_.wait_empty(unit, Ring::parity(block));
      uint32_t rows_of_panel = ring_.panel(Ring::first_panel(unit)) + target;
#pragma unroll 1
      for (int n = 0; n < count; ++n, rows_of_panel += kPanelBytes) {
#pragma unroll
        for (int i = 0; i < kLaneRows; ++i) {
          const int place = lane % 8 ^ (i * 4 + lane / 8) % 8;
          copy16_async(rows_of_panel + i * 4 * kPanelRowBytes + place * 16,
                       rows[i] + (panel + n) * kPanelRowBytes);
        }
      }
      arrive_after_copies(ring_.full(unit));
    });
  }

  Ring ring_;
  const RowSource& source_;
  const int32_t* pages_;
  Walk<kWideTileN> walk_;
  int blocks_;
};

#endif

}  // namespace mla::gpu

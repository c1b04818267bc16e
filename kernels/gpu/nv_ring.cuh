// SPDX-License-Identifier: MIT
// The copy ring of a team: two producer warps fill stages of tile_n KV rows in turn, four consumer
// warps empty them in order. Rows are gathered one by one: bulk copies (one instruction a row) on
// sm_90, 16-byte asynchronous copies on sm_80.
#pragma once

#include "kernels/bh16_layout.h"
#include "kernels/decode_params.h"
#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/partition.h"

namespace mla::gpu {

// A position in the ring: the slot of a block and the parity of the phase it completes there.
struct RingPosition {
  int slot = 0;
  uint32_t parity = 0;

  __device__ void advance(int blocks, int stages) {
    slot += blocks;
    while (slot >= stages) {
      slot -= stages;
      parity ^= 1;
    }
  }
};

class Ring {
 public:
  __device__ Ring(uint8_t* local, const Bh16Layout& layout)
      : base_(shared_address(local)), layout_(layout) {}

  __device__ uint32_t stage(int slot) const { return base_ + slot * layout_.stage_bytes(); }
  __device__ uint32_t full(int slot) const { return base_ + layout_.barrier_offset() + slot * 8; }
  __device__ uint32_t empty(int slot) const { return full(slot) + kMaxStages * 8; }
  __device__ int stages() const { return layout_.stages; }

  // By one thread, before any other use.
  __device__ void init() const {
    constexpr int kProducerArrivals = kBulk ? 1 : 32;
    for (int slot = 0; slot < layout_.stages; ++slot) {
      init_barrier(full(slot), kProducerArrivals);
      init_barrier(empty(slot), kWarpsPerTeam);
    }
    fence_barrier_init();
  }

  static constexpr bool kBulk =
#if __CUDA_ARCH__ >= 900
      true;
#else
      false;
#endif

 private:
  uint32_t base_;
  Bh16Layout layout_;
};

// The blocks of one split, in rows of the request.
template <int kTileN>
struct Walk {
  int32_t begin;
  int32_t end;

  __device__ int count() const { return block_count<int32_t>(end - begin, kTileN); }
  __device__ int first_row(int block) const { return begin + block * kTileN; }
  __device__ int rows(int block) const { return min(kTileN, end - first_row(block)); }
};

// Where the rows of one request lie.
struct RowSource {
  const uint8_t* pool;
  int64_t row_bytes;  // from one row of the pool to the next
  const int32_t* pages;
  int page_shift;  // log2 of the page size

  __device__ RowSource(const DecodeParams& p, int32_t request)
      : pool(static_cast<const uint8_t*>(p.kv)),
        row_bytes(p.kv_row_stride * 2),
        pages(p.kv_indices + p.kv_indptr[request]) {
    page_shift = 31 - __clz(p.page_size);
  }

  __device__ const uint8_t* row(int32_t page, int32_t n) const {
    const int32_t in_page = n & ((1 << page_shift) - 1);
    return pool + ((int64_t{page} << page_shift) + in_page) * row_bytes;
  }
};

// One of a team's producer warps. It fills blocks `first`, `first + step`, ... of the walk into
// slots `producer`, `producer + 2`, ... A block's rows behind the end of the range are copies of
// its last row: finite, and of weight 0.
//
// A wait for the phase before last would pass by its parity. It cannot happen: consumers go in
// order and a ring has at least as many slots as producers, so the last wait of this warp was for a
// block no older than that phase.
template <int kTileN>
__device__ void produce(const Ring& ring,
                        const RowSource& source,
                        const Walk<kTileN>& walk,
                        int32_t* index_ring,
                        int producer,
                        int first,
                        int step) {
  // In blocks of this warp.
  constexpr int kAhead = kIndexAheadRows / kTileN / kProducersPerTeam;
  constexpr int kSlots = 2 * kAhead;
  const int lane = threadIdx.x % 32;
  const int blocks = walk.count();
  const auto row_number = [&](int block, int r) {
    return walk.first_row(block) + min(r, walk.rows(block) - 1);
  };
  const auto fetch_pages = [&](int turn) {
    const int block = first + turn * step;
    int32_t* slot = index_ring + turn % kSlots * kTileN;
    for (int r = lane; r < kTileN && block < blocks; r += 32) {
      copy4_async(shared_address(slot + r),
                  source.pages + (row_number(block, r) >> source.page_shift));
    }
    commit_copies();
  };

  for (int turn = 0; turn < kAhead; ++turn) fetch_pages(turn);
  RingPosition position;
  position.advance(producer, ring.stages());
  int turn = 0;
  for (int block = first; block < blocks; block += step, ++turn) {
    fetch_pages(turn + kAhead);
    wait_copies<kAhead>();
    __syncwarp();
    // Parity 1 of a fresh barrier counts as complete: the first round finds every slot empty.
    wait_barrier(ring.empty(position.slot), position.parity ^ 1);
    const int32_t* pages = index_ring + turn % kSlots * kTileN;
    const uint32_t stage = ring.stage(position.slot);
    const uint32_t full = ring.full(position.slot);
#if __CUDA_ARCH__ >= 900
    if (lane == 0) arrive_expecting(full, kTileN * kRowBytes);
    __syncwarp();
    for (int r = lane; r < kTileN; r += 32) {
      bulk_copy(stage + r * kRowPitch, source.row(pages[r], row_number(block, r)), kRowBytes, full);
    }
#else
    constexpr int kPieces = kRowBytes / 16;
    for (int piece = lane; piece < kTileN * kPieces; piece += 32) {
      const int r = piece / kPieces;
      const int offset = piece % kPieces * 16;
      copy16_async(stage + r * kRowPitch + offset,
                   source.row(pages[r], row_number(block, r)) + offset);
    }
    arrive_after_copies(full);
#endif
    position.advance(kProducersPerTeam, ring.stages());
  }
}

}  // namespace mla::gpu

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

// Where rows lie in the pool.
struct RowSource {
  const uint8_t* pool;
  int64_t row_bytes;  // from one row of the pool to the next
  int page_shift;     // log2 of the page size

  __device__ explicit RowSource(const DecodeParams& p)
      : pool(static_cast<const uint8_t*>(p.kv)), row_bytes(p.kv_row_stride * 2) {
    page_shift = 31 - __clz(p.page_size);
  }

  __device__ const uint8_t* row(int32_t page, int32_t n) const {
    const int32_t in_page = n & ((1 << page_shift) - 1);
    return pool + ((int64_t{page} << page_shift) + in_page) * row_bytes;
  }
};

// The blocks of a walk that one producer fills: `first`, `first + step`, ...
template <int kTileN>
class WalkCursor {
 public:
  // pages: of the walk's request.
  __device__ WalkCursor(const int32_t* pages, const Walk<kTileN>& walk, int first, int step)
      : pages_(pages), walk_(walk), block_(first), step_(step) {}

  __device__ bool done() const { return block_ >= walk_.count(); }
  __device__ void advance() { block_ += step_; }
  // Of the current block.
  __device__ const int32_t* pages() const { return pages_; }
  __device__ int first_row() const { return walk_.first_row(block_); }
  __device__ int rows() const { return walk_.rows(block_); }

 private:
  const int32_t* pages_;
  Walk<kTileN> walk_;
  int block_;
  int step_;
};

// One of a team's producer warps. It fills the cursor's blocks into slots `producer`,
// `producer + 2`, ... A block's rows behind the end of the range are copies of its last row:
// finite, and of weight 0.
//
// A wait for the phase before last would pass by its parity. It cannot happen: consumers go in
// order and a ring has at least as many slots as producers, so the last wait of this warp was for a
// block no older than that phase.
template <int kTileN, class Cursor>
__device__ void produce(
    const Ring& ring, const RowSource& source, Cursor copy, int32_t* index_ring, int producer) {
  // In blocks of this warp.
  constexpr int kAhead = kIndexAheadRows / kTileN / kProducersPerTeam;
  constexpr int kSlots = 2 * kAhead;
  const int lane = threadIdx.x % 32;
  const auto row_number = [](const Cursor& cursor, int r) {
    return cursor.first_row() + min(r, cursor.rows() - 1);
  };
  Cursor fetch = copy;
  const auto fetch_pages = [&](int turn) {
    if (!fetch.done()) {
      int32_t* slot = index_ring + turn % kSlots * kTileN;
      for (int r = lane; r < kTileN; r += 32) {
        copy4_async(shared_address(slot + r),
                    fetch.pages() + (row_number(fetch, r) >> source.page_shift));
      }
      fetch.advance();
    }
    commit_copies();
  };

  for (int turn = 0; turn < kAhead; ++turn) fetch_pages(turn);
  RingPosition position;
  position.advance(producer, ring.stages());
  for (int turn = 0; !copy.done(); copy.advance(), ++turn) {
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
      bulk_copy(stage + r * kRowPitch, source.row(pages[r], row_number(copy, r)), kRowBytes, full);
    }
#else
    constexpr int kPieces = kRowBytes / 16;
    for (int piece = lane; piece < kTileN * kPieces; piece += 32) {
      const int r = piece / kPieces;
      const int offset = piece % kPieces * 16;
      copy16_async(stage + r * kRowPitch + offset,
                   source.row(pages[r], row_number(copy, r)) + offset);
    }
    arrive_after_copies(full);
#endif
    position.advance(kProducersPerTeam, ring.stages());
  }
}

}  // namespace mla::gpu

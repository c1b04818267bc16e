// SPDX-License-Identifier: MIT
// A copy ring: producer warps, two for each of its teams or four for the rings of three, fill
// stages of tile_n KV rows in turn, and its teams empty them in order. Rows are gathered one by
// one: by the copy engine (one instruction a row, which for bf16 also swaps pieces as bh16_layout.h
// says) on sm_90, 16-byte asynchronous copies on sm_80.
#pragma once

#include "kernels/bh16_layout.h"
#include "kernels/decode_params.h"
#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/gpu/nv_row_map.cuh"
#include "kernels/gpu/stage1_work.cuh"

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

  // By one warp, before any other use.
  __device__ void init() const {
    const int producer_arrivals = layout_.producers_per_ring() * (kBulk ? 1 : 32);
    const int slot = threadIdx.x % 32;
    if (slot < layout_.stages) {
      init_barrier(full(slot), producer_arrivals);
      init_barrier(empty(slot), layout_.teams_per_ring() * kWarpsPerTeam);
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

// The rings of teams that take blocks in turn, as one for producers in common.
template <int kRings>
class RingsInTurn {
 public:
  __device__ RingsInTurn(uint8_t* local, const Bh16Layout& layout)
      : first_(local, layout), ring_bytes_(layout.ring_bytes()) {}

  __device__ uint32_t stage(int slot) const { return first_.stage(slot / kRings) + ring(slot); }
  __device__ uint32_t full(int slot) const { return first_.full(slot / kRings) + ring(slot); }
  __device__ uint32_t empty(int slot) const { return first_.empty(slot / kRings) + ring(slot); }
  __device__ int stages() const { return kRings * first_.stages(); }

 private:
  __device__ uint32_t ring(int slot) const { return slot % kRings * ring_bytes_; }

  Ring first_;
  uint32_t ring_bytes_;
};

// Where rows lie in the pool.
struct RowSource {
  const RowMap* map;  // the pool as the copy engine sees it
  const uint8_t* pool;
  int64_t row_bytes;  // from one row of the pool to the next
  int page_shift;     // log2 of the page size

  __device__ RowSource(const DecodeParams& p, const RowMap& row_map, int element_bytes)
      : map(&row_map),
        pool(static_cast<const uint8_t*>(p.kv)),
        row_bytes(p.kv_row_stride * element_bytes) {
    page_shift = 31 - __clz(p.page_size);
  }

  // Row n of a request whose page is known, as a row of the pool.
  __device__ int64_t row(int32_t page, int32_t n) const {
    return (int64_t{page} << page_shift) + (n & ((1 << page_shift) - 1));
  }
};

// A ring's blocks of a walk: `first`, `first + step`, ...
template <int kTileN>
class WalkCursor {
 public:
  // pages: of the walk's request.
  __device__ WalkCursor(const int32_t* pages, const Walk<kTileN>& walk, int first, int step)
      : pages_(pages), walk_(walk), block_(first), step_(step) {}

  __device__ bool done() const { return block_ >= walk_.count(); }
  __device__ void advance(int blocks) { block_ += blocks * step_; }
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

// One of the producer warps of a ring, or of rings in turn: it copies its share of the rows of
// every block of the cursor. With a block each instead, the rows that are used first would come no
// earlier than those of the second block. Rows behind the end of the range are copies of its last
// row: finite, and of weight 0.
template <int kTileN, KvDtype kDtype, int kProducers, int kAheadRows, class AnyRing, class Cursor>
__device__ void produce(
    const AnyRing& ring, const RowSource& source, Cursor copy, int32_t* index_ring, int producer) {
  constexpr bool kFp8 = kDtype == KvDtype::kFp8;
  constexpr int kCopyBytes = kFp8 ? kFp8RowBytes : kRowBytes;
  constexpr int kPitch = kFp8 ? kFp8RowPitch : kRowBytes;
  constexpr int kRows = kTileN / kProducers;  // of a block
  constexpr int kBlocks = 32 / kRows;  // whose page numbers are fetched at a time, one a lane
  constexpr int kAhead = kAheadRows / (kTileN * kBlocks);  // in fetches
  constexpr int kSlots = 2 * kAhead;
  const int lane = threadIdx.x % 32;
  const auto row_number = [producer](const Cursor& cursor, int r) {
    return cursor.first_row() + min(producer * kRows + r, cursor.rows() - 1);
  };
  Cursor fetch = copy;
  fetch.advance(lane / kRows);
  const auto fetch_pages = [&](int turn) {
    if (!fetch.done()) {
      copy4_async(shared_address(index_ring + turn % kSlots * 32 + lane),
                  fetch.pages() + (row_number(fetch, lane % kRows) >> source.page_shift));
      fetch.advance(kBlocks);
    }
    commit_copies();
  };

#pragma unroll 1
  for (int turn = 0; turn < kAhead; ++turn) fetch_pages(turn);
  RingPosition position;
  for (int block = 0; !copy.done(); copy.advance(1), ++block) {
    if (block % kBlocks == 0) {
      fetch_pages(block / kBlocks + kAhead);
      wait_copies<kAhead>();
      __syncwarp();
    }
    // Parity 1 of a fresh barrier counts as complete: the first round finds every slot empty.
    wait_barrier(ring.empty(position.slot), position.parity ^ 1);
    const int32_t* pages = index_ring + block % (kSlots * kBlocks) * kRows;
    const uint32_t target = ring.stage(position.slot) + producer * kRows * kPitch;
    const uint32_t full = ring.full(position.slot);
#if __CUDA_ARCH__ >= 900
    if (lane == 0) arrive_expecting(full, kRows * kCopyBytes);
    __syncwarp();
    for (int r = lane; r < kRows; r += 32) {
      const int64_t row = source.row(pages[r], row_number(copy, r));
      if constexpr (kFp8) {
        copy_bytes(target + r * kPitch, source.pool + row * source.row_bytes, kCopyBytes, full);
      } else {
        copy_row(target + r * kPitch, source.map, static_cast<int32_t>(row), full);
      }
    }
#else
    constexpr int kPieces = kCopyBytes / 16;
    for (int piece = lane; piece < kRows * kPieces; piece += 32) {
      const int r = piece / kPieces;
      const int in_row = piece % kPieces;
      // Of bf16 lines, the first of which is a multiple of 8, the pieces are swapped.
      const int line = r * kRowLines + in_row / 8;
      const int place =
          kFp8 ? r * kPitch + in_row * 16 : line * kLineBytes + (in_row % 8 ^ line % 8) * 16;
      const uint8_t* row =
          source.pool + source.row(pages[r], row_number(copy, r)) * source.row_bytes;
      copy16_async(target + place, row + in_row * 16);
    }
    arrive_after_copies(full);
#endif
    position.advance(1, ring.stages());
  }
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// The copy ring on AMD: every wave copies its share of the rows of each block straight into LDS and
// waits for its own copies alone; a barrier makes them the workgroup's. Page numbers come a turn of
// 64 ahead through a ring of the wave's own.
//
// A stage holds the latent parts of its rows, then their rope parts. Token t of 16 is LDS row
// local_row(t).
#pragma once

#include "kernels/gpu/amd_isa.cuh"
#include "kernels/gpu/stage1_work.cuh"

namespace mla::gpu {

// gfx950 reads V in 8 rows of 32 bytes at a time; neighbouring tokens two rows apart put those into
// different banks: a rotation of the token's four bits.
__device__ constexpr int local_row(int token) {
  return kGfx950 ? (token & ~15) | (token << 1 & 14) | (token >> 3 & 1) : token;
}
__device__ constexpr int token_of(int row) {
  return kGfx950 ? (row & ~15) | (row >> 1 & 7) | (row << 3 & 8) : row;
}

// Which 16 bytes of the rope part of an LDS row lie in its chunk number 0; chunk i holds number
// i ^ rope_swizzle. Two rows fill all banks, so the lowest bit of the row is spent already.
__device__ constexpr int rope_swizzle(int row) {
  return (row & 7) ^ (row >> 3 & 1);
}

// The stage behind one, round the ring.
template <int kStages>
__device__ uint32_t next_stage(uint32_t stage, uint32_t stage_bytes) {
  return stage == (kStages - 1) * stage_bytes ? 0 : stage + stage_bytes;
}

template <int kTileN, int kStages, class Pool>
class CopyRing {
 public:
  static constexpr int kStageBytes = AmdLayout{kTileN, kStages}.stage_bytes();
  static constexpr int kRopeOffset = AmdLayout{kTileN, kStages}.rope_offset();
  static constexpr int kPagesOffset = AmdLayout{kTileN, kStages}.pages_offset();
  static constexpr int kRows = kTileN / kStage1Waves;  // of a block, by one wave
  static constexpr int kLatentCopies = kLatentBytes / (kWaveLanes * kCopyBytes);  // of a row
  static constexpr int kRopeLanes = kRopeBytes / kCopyBytes;                      // of a row
  static constexpr int kRopeRows = kWaveLanes / kRopeLanes;  // by one instruction
  static constexpr int kRopeCopies = (kRows + kRopeRows - 1) / kRopeRows;
  // Instructions of a wave for a block, without those for page numbers.
  static constexpr int kCopies = kRows * kLatentCopies + kRopeCopies;
  static constexpr int kTurnBlocks = kWaveLanes / kRows;  // whose page numbers come at a time
  // A turn is issued before the copies of the block kTurnBlocks ahead of its first use, and by then
  // the block kStages + 1 before that use has been waited for; waits are in order of issue.
  static_assert(kStages + 1 <= kTurnBlocks);

  __device__ CopyRing(const DecodeParams& p,
                      const Pool& pool,
                      const int32_t* pages,
                      Walk<kTileN> walk)
      : pool_(pool),
        pages_(pages),
        walk_(walk),
        row_bytes_(static_cast<uint32_t>(p.kv_row_stride * 2)),
        page_shift_(31 - __builtin_clz(static_cast<unsigned>(p.page_size))),
        turn_token_(token_of(wave_index() * kRows + lane_index() % kRows)) {
    const int first = wave_index() * kRows;
#pragma unroll
    for (int i = 0; i < kLatentCopies; ++i) {
      latent_column_[i] = (i * kWaveLanes + lane_index()) * kCopyBytes;
    }
#pragma unroll
    for (int c = 0; c < kRopeCopies; ++c) {
      const int row = first + rope_row(c);
      const int in_row = lane_index() % kRopeLanes * kCopyBytes;
      rope_column_[c] =
          kLatentBytes + (in_row ^ rope_swizzle(row) * 16);  // mutation: wrong_swizzle
      rope_token_[c] = token_of(row);
    }
  }

  // Asks for the page numbers of the first turn; wait_copies<0>() has to follow.
  __device__ void prefetch() {
    fetch_pages(0);
  }

  // Resolves the next block's rows; behind the last block, rows that are never copied.
  __device__ void locate() {
    int32_t page[kRopeCopies];
    const uint32_t numbers = pages_ring() + block_numbers(located_);
#pragma unroll
    for (int c = 0; c < kRopeCopies; ++c) read_local<0>(numbers + rope_row(c) * 4, &page[c]);
    wait_reads<0>();
#pragma unroll
    for (int c = 0; c < kRopeCopies; ++c) {
      arrived(page[c]);
      const int32_t n = clamped(walk_.first_row(located_) + rope_token_[c]);
      const int32_t in_page = n & ((1 << page_shift_) - 1);
      const auto pool_row = static_cast<uint32_t>((page[c] << page_shift_) + in_page);
      row_[c] = pool_.row(pool_row, row_bytes_);
    }
    ++located_;
  }

  // Starts to copy the located block into the next stage.
  __device__ void issue() {
    if (issued_ % kTurnBlocks == 0) fetch_pages(issued_ / kTurnBlocks + 1);
    ++issued_;
    typename Pool::Row row[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      row[r] = Pool::read_lane(row_[r / kRopeRows], r % kRopeRows * kRopeLanes);
    }
    keep_order();  // a copy right behind its read_lane would wait for it
    uint32_t column[kLatentCopies];
#pragma unroll
    for (int i = 0; i < kLatentCopies; ++i) column[i] = Pool::lane_column(latent_column_[i]);
    const uint32_t latent = stage_ + wave_index() * kRows * kLatentPitch;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kLatentCopies; ++i) {
        pool_.copy(row[r], column[i], latent + r * kLatentPitch + i * kWaveLanes * kCopyBytes);
      }
    }
    const uint32_t rope = stage_ + kRopeOffset + wave_index() * kRows * kRopeBytes;
    constexpr bool kAllLanes = kRows * kRopeLanes >= kWaveLanes;
    if (kAllLanes || lane_index() < kRows * kRopeLanes) {
#pragma unroll
      for (int c = 0; c < kRopeCopies; ++c) {
        pool_.copy_lanes(row_[c], rope_column_[c], rope + c * kWaveLanes * kCopyBytes);
      }
    }
    stage_ = next_stage<kStages>(stage_, kStageBytes);
  }

 private:
  // The wave's row whose rope part this lane copies by instruction c.
  __device__ static int rope_row(int c) {
    return min(c * kRopeRows + lane_index() / kRopeLanes, kRows - 1);
  }

  // Rows behind the end of the range are copies of its last row: finite, and of weight 0.
  __device__ int32_t clamped(int32_t n) const {
    return min(n, walk_.end - 1);
  }

  // Where the page numbers of the wave's rows lie: a ring of two turns.
  __device__ static uint32_t pages_ring() {
    return kPagesOffset + wave_index() * 2 * kWaveLanes * 4;
  }
  __device__ static uint32_t block_numbers(int block) {
    return static_cast<uint32_t>(block) * kRows * 4 % (2 * kWaveLanes * 4);
  }

  // Nothing that is not there: behind the last block the last row's page again.
  __device__ void fetch_pages(int turn) {
    const int block = turn * kTurnBlocks + lane_index() / kRows;
    const int32_t n = clamped(walk_.first_row(block) + turn_token_);
    copy_number(pages_ + (n >> page_shift_), pages_ring() + block_numbers(turn * kTurnBlocks));
  }

  Pool pool_;
  const int32_t* pages_;
  Walk<kTileN> walk_;
  uint32_t row_bytes_;
  int page_shift_;
  int turn_token_;   // of the row whose page number this lane fetches
  int located_ = 0;  // blocks
  int issued_ = 0;
  uint32_t stage_ = 0;  // the next one to fill
  uint32_t latent_column_[kLatentCopies];
  uint32_t rope_column_[kRopeCopies];
  int rope_token_[kRopeCopies];
  typename Pool::Row row_[kRopeCopies];  // the located block's, of rope_row(c)
};

}  // namespace mla::gpu

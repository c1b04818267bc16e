// SPDX-License-Identifier: MIT
// The copy ring on AMD: every wave copies its share of the rows of each block straight into LDS and
// waits for its own copies alone; a barrier makes them the workgroup's. Page numbers come a turn of
// 64 ahead through a ring of the wave's own.
#pragma once

#include "kernels/gpu/amd_isa.cuh"
#include "kernels/gpu/stage1_work.cuh"

namespace mla::gpu {

// Where a stage holds what. One copy instruction fills consecutive LDS from any addresses, so a
// stage is cut into groups of as many rows as 128 bytes of each fill an instruction; a group holds
// the columns in nine panels of 64: panel 0 of all its rows, panel 1, ...
template <int kTileN>
struct StageLayout {
  static constexpr int kPanels = kHeadDim / 64;
  static constexpr int kPanelRowBytes = 128;
  static constexpr int kInstructionBytes = kWaveLanes * kCopyBytes;
  static constexpr int kWaveRows = kTileN / kStage1Waves;
  static constexpr int kFullRows = kInstructionBytes / kPanelRowBytes;
  static constexpr int kGroupRows = kFullRows < kWaveRows ? kFullRows : kWaveRows;
  static constexpr int kPanelBytes = kGroupRows * kPanelRowBytes;
  static constexpr int kGroupBytes = kPanels * kPanelBytes;

  // Bytes from the begin of a stage to a row's part of panel 0.
  __device__ static constexpr int row_offset(int row) {
    return row / kGroupRows * kGroupBytes + row % kGroupRows * kPanelRowBytes;
  }

  // 16 bytes number i of a row's part of a panel lie at place i ^ swizzle. All of these reads then
  // fall into different banks: the same 16 bytes of 8 rows (32 banks of gfx942) or of 16 rows (64
  // banks of gfx950), the same 32 bytes of 8 rows. Two rows fill 64 banks, hence the last term.
  __device__ static constexpr int swizzle(int row) { return (row & 7) ^ (row >> 3 & 1); }
};

// The stage behind one, round the ring.
template <int kStages>
__device__ uint32_t next_stage(uint32_t stage, uint32_t stage_bytes) {
  return stage == (kStages - 1) * stage_bytes ? 0 : stage + stage_bytes;
}

template <int kTileN, int kStages, class Pool>
class CopyRing {
 public:
  using Layout = StageLayout<kTileN>;
  static constexpr int kRows = Layout::kWaveRows;  // of a block, by one wave
  static constexpr int kGroups = kRows / Layout::kGroupRows;
  static constexpr int kGroupCopies =
      (Layout::kGroupBytes + Layout::kInstructionBytes - 1) / Layout::kInstructionBytes;
  // Instructions of a wave for a block, without those for page numbers.
  static constexpr int kCopies = kGroups * kGroupCopies;
  static constexpr int kTurnBlocks = kWaveLanes / kRows;  // whose page numbers come at a time
  // A turn is issued with the block kTurnBlocks ahead of its first use, and is used once the block
  // kStages + 1 ahead of that has been waited for. Copies arrive in the order of their issue.
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
        wave_row_(wave_index() * kRows) {
    const int byte = lane_index() * kCopyBytes;  // of an instruction
    const int panel = byte / Layout::kPanelBytes;
    group_row_ = byte % Layout::kPanelBytes / Layout::kPanelRowBytes;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int in_row = byte % Layout::kPanelRowBytes ^ Layout::swizzle(tile_row(g)) * 16;
      column_[g] = panel * Layout::kPanelRowBytes + in_row;
    }
  }

  // Asks for the page numbers of the first turn; wait_copies<0>() has to follow.
  __device__ void prefetch() {
    fetch_pages(0);
  }

  // Resolves the next block's rows; behind the last block, rows that are never copied.
  __device__ void locate() {
    int32_t page[kGroups];
    const uint32_t numbers = pages_ring() + block_numbers(located_) + group_row_ * 4;
    unrolled<kGroups>([&](auto g) { read_local<g * Layout::kGroupRows * 4>(numbers, &page[g]); });
    wait_reads<0>();
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      arrived(page[g]);
      const int32_t n = clamped(walk_.first_row(located_) + tile_row(g));
      const int32_t in_page = n & ((1 << page_shift_) - 1);
      const auto pool_row = static_cast<uint32_t>((page[g] << page_shift_) + in_page);
      address_[g] = pool_.address(pool_row, row_bytes_, column_[g]);
    }
    ++located_;
  }

  // Starts to copy the located block into the next stage.
  __device__ void issue() {
    if (issued_ % kTurnBlocks == 0) fetch_pages(issued_ / kTurnBlocks + 1);
    ++issued_;
    constexpr uint32_t kCopyColumns =
        Layout::kInstructionBytes / Layout::kPanelBytes * Layout::kPanelRowBytes;
    constexpr int kLastLanes =
        (Layout::kGroupBytes - (kGroupCopies - 1) * Layout::kInstructionBytes) / kCopyBytes;
    const uint32_t first = stage_ + wave_row_ * kLdsRowBytes;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const uint32_t group = first + g * Layout::kGroupBytes;
#pragma unroll
      for (int i = 0; i < kGroupCopies; ++i) {
        if (i == kGroupCopies - 1 && kLastLanes < kWaveLanes && lane_index() >= kLastLanes) break;
        pool_.copy(address_[g], i * kCopyColumns, group + i * Layout::kInstructionBytes);
      }
    }
    advance();
  }

  // The stage behind the one that was filled last: of the oldest block in the ring.
  __device__ uint32_t stage() const {
    return stage_;
  }
  // Passes over a stage that is not filled again.
  __device__ void advance() {
    stage_ = next_stage<kStages>(stage_, kTileN * kLdsRowBytes);
  }

 private:
  static constexpr int kPagesOffset = AmdLayout{kTileN, kStages}.pages_offset();

  // The row of the tile that this lane copies of the wave's group g.
  __device__ int tile_row(int g) const {
    return wave_row_ + g * Layout::kGroupRows + group_row_;
  }

  // Rows behind the end of the range are copies of its last row: finite, and of weight 0.
  __device__ int32_t clamped(int32_t n) const {
    return min(n, walk_.end - 1);
  }

  // Where the page numbers of the wave's rows lie: a ring of two turns.
  __device__ uint32_t pages_ring() const {
    return kPagesOffset + wave_row_ / kRows * 2 * kWaveLanes * 4;
  }
  __device__ static uint32_t block_numbers(int block) {
    return static_cast<uint32_t>(block) * kRows * 4 % (2 * kWaveLanes * 4);
  }

  // Behind the last block the last row's page again.
  __device__ void fetch_pages(int turn) {
    const int block = turn * kTurnBlocks + lane_index() / kRows;
    const int row = wave_row_ + lane_index() % kRows;
    const int32_t n = clamped(walk_.first_row(block) + row);
    copy_number(pages_ + (n >> page_shift_), pages_ring() + block_numbers(turn * kTurnBlocks));
  }

  Pool pool_;
  const int32_t* pages_;
  Walk<kTileN> walk_;
  uint32_t row_bytes_;
  int page_shift_;
  int wave_row_;              // the wave's first row of a block
  int group_row_;             // of a group, that this lane copies
  int located_ = 0;           // blocks
  int issued_ = 0;            // blocks
  uint32_t stage_ = 0;        // the next one to fill
  uint32_t column_[kGroups];  // bytes of the row, by the first instruction of a group
  typename Pool::Address address_[kGroups];  // of the located block
};

}  // namespace mla::gpu

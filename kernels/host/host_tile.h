// SPDX-License-Identifier: MIT
// What the two CPU implementations of the tile operations (Highway, AVX512-BF16) share: a thread's
// scratch memory, the copy ring, masks and the epilogue. No vector code here.
//
// One thread is one workgroup, so a barrier is nothing. A cached row is already where the thread
// can read it, so an asynchronous copy is a row pointer plus prefetches, which the compute loops
// issue a few lines at a time: a burst would fill the miss buffers and stall the loop behind it.
// With CopyMode::kChecked rows are really copied, into a ring that reads as NaN until the wait that
// retires the copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/stage1.h"

namespace mla::host {

enum class CopyMode { kPrefetch, kChecked };

#ifdef MLA_CHECKED_COPIES
inline constexpr CopyMode kDefaultCopyMode = CopyMode::kChecked;
#else
inline constexpr CopyMode kDefaultCopyMode = CopyMode::kPrefetch;
#endif

inline constexpr int kMaxTileN = 128;
inline constexpr int kMaxStages = 4;
// Rows that a compute loop handles at once. A block's last rows are padded to it with a row of
// zeros.
inline constexpr int kRowStep = 16;

// Memory of one thread; the next work item reuses it. Arrays that a core sweeps over and over are
// contiguous: queries take 36 KiB of L1 in fp32 and 18 KiB as bf16 pairs.
struct alignas(64) Scratch {
  alignas(64) float queries[kHeadDim * kGroupRows];             // [576][16]
  alignas(64) uint32_t query_pairs[kHeadDim / 2 * kGroupRows];  // [288][16] pairs of bf16
  alignas(64) float scores[kMaxTileN * kGroupRows];             // S and then P: [tile_n][16]
  alignas(64) float output[kGroupRows * kValueDim];             // O: [16][512]
  alignas(64) float wide_rows[kRowStep * 32];                   // a slice of 16 rows in fp32
  alignas(64) uint32_t
      weight_pairs[kMaxTileN / 2 * kGroupRows];  // P as bf16 pairs: [tile_n / 2][16]
  alignas(64) uint16_t zero_row[kHeadDim] = {};
  const uint16_t* rows[kMaxStages][kMaxTileN];  // the ring: where a slot's rows stand
  const uint16_t* located[kMaxTileN];           // the block whose copy comes next
  const uint16_t* zero_rows[kMaxTileN];         // what is prefetched when nothing is left to copy
  std::vector<uint16_t> checked_ring;           // [stages][tile_n][576], only with kChecked

  Scratch() { std::fill_n(zero_rows, kMaxTileN, zero_row); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

class HostTile {
 public:
  struct Rows {
    static constexpr int kCount = kGroupRows;
    // Not over-aligned: GCC 12 does not realign the stack for returned temporaries of this kind.
    float values[kCount];
    float& operator[](int i) { return values[i]; }
    float operator[](int i) const { return values[i]; }
  };

  HostTile(Scratch* scratch, const DecodeParams& params, CopyMode mode);

  static int row_index(int i) { return i; }

  void locate(const KvBlock& block);
  void issue_copy(int32_t slot);
  void wait_copies(int32_t outstanding);
  void barrier() {}
  void mask(const KvBlock& block, const int64_t* limits);
  static float log2(float value);
  void store(int row, float scale, uint16_t* output) const;
  void store(int row, float scale, float* output) const;

 protected:
  void begin_group(const RowGroup& group);
  // Rows of the block at hand, up to the next multiple of kRowStep.
  int padded_rows() const { return padded_rows_; }
  void begin_scores(const KvBlock& block);
  // Rows whose lines the loop over a block prefetches, line for line with those it works on. Each
  // copy is handed out once.
  const uint16_t* const* take_upcoming();

  Scratch& scratch_;
  const DecodeParams& params_;
  const float score_scale_;  // softmax_scale * log2(e)
  int32_t group_rows_ = 0;

 private:
  struct PendingCopy {
    int32_t slot;
    std::vector<const uint16_t*> sources;
  };
  uint16_t* checked_row(int32_t slot, int row);

  const CopyMode mode_;
  const int page_shift_;
  int64_t request_ = 0;
  int located_rows_ = 0;  // padded
  int padded_rows_ = 0;
  const uint16_t* const* upcoming_;
  std::vector<PendingCopy> pending_;
};

}  // namespace mla::host

// SPDX-License-Identifier: MIT
// What the two CPU implementations of the tile operations (Highway, AVX512-BF16) share: a thread's
// scratch memory, the copy ring, masks and the epilogue. No vector code here.
//
// One thread is one workgroup, so a barrier is nothing. A cached row is already where the thread
// can read it, so an asynchronous copy is a row pointer plus prefetches, in two steps (NOTES.md has
// the measurements):
//   locate   one prefetch of each page that a row touches, for all rows of the block in one go. A
//            prefetch that misses the TLB cannot retire until its address is translated, so page
//            walks overlap only where nothing but other walks stands between them.
//   copy     the lines themselves, a few at a time inside the compute loops over the block before:
//            a burst would fill the miss buffers and stall the loop behind it.
// With CopyMode::kChecked rows are really copied, into a ring that reads as NaN until the wait that
// retires the copy. So are fp8 rows in either mode, as the bf16 that they are exactly: prefetched
// when the copy is issued, converted at the wait.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/stage1.h"

namespace mla::host {

enum class CopyMode { kPrefetch, kChecked };

#ifdef MLA_CHECKED_COPIES
inline constexpr CopyMode kDefaultCopyMode = CopyMode::kChecked;
#else
inline constexpr CopyMode kDefaultCopyMode = CopyMode::kPrefetch;
#endif

// Rows of a group are handled 16 at a time, so that the last ones may be padding.
inline constexpr int kPanelRows = 16;
inline constexpr int kMaxGroupRows = 64;
inline constexpr int kMaxTileN = 128;
inline constexpr int kMaxStages = 4;
// Rows that a compute loop handles at once. A block's last rows are padded to it with a row of
// zeros.
inline constexpr int kRowStep = 16;

// Elements of a cache line: the unit of prefetches.
inline constexpr int kLineElements = 32;
// Of a row's 18 lines, those that Q K^T over the block before prefetches; P V takes the others.
inline constexpr int kScoreLines = 10;
// P V prefetches one line of each row at every kColumnsPerLine-th of its columns, from here on.
inline constexpr int kColumnsPerLine = 64;
constexpr int value_line(int column) {
  return (kScoreLines + column / kColumnsPerLine) * kLineElements;
}
static_assert(value_line(kValueDim) == kHeadDim);

// Memory of one thread; the next work item reuses it. Queries are what a core sweeps over and over:
// 12 rows take 27 KiB of L1 in fp32 and 14 KiB in bf16. `stride`: a group's rows with the padding.
struct alignas(64) Scratch {
  alignas(64) float queries[kMaxGroupRows * kHeadDim];          // [rows][576]
  alignas(64) uint16_t bf16_queries[kMaxGroupRows * kHeadDim];  // [rows][576]
  alignas(64) float scores[kMaxTileN * kMaxGroupRows];          // S and then P: [tile_n][stride]
  alignas(64) float output[kMaxGroupRows * kValueDim];          // O: [rows][512]
  // P as bf16 pairs: [tile_n / 2][stride]
  alignas(64) uint32_t weight_pairs[kMaxTileN / 2 * kMaxGroupRows];
  alignas(64) uint16_t zero_row[kHeadDim] = {};
  const uint16_t* rows[kMaxStages][kMaxTileN];    // the ring: where a slot's rows stand
  const uint8_t* located[kMaxTileN];              // the block whose copy comes next
  const uint16_t* zero_rows[kMaxTileN];           // what is prefetched when nothing is left to copy
  const uint8_t* sources[kMaxStages][kMaxTileN];  // of the rows that are really copied
  alignas(64) uint16_t ring[kMaxStages][kMaxTileN][kHeadDim];  // of them; untouched without

  Scratch() { std::fill_n(zero_rows, kMaxTileN, zero_row); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

class HostTile {
 public:
  static constexpr int kGroupRows = kMaxGroupRows;
  struct Rows {
    static constexpr int kCount = kGroupRows;
    // Not over-aligned: GCC 12 does not realign the stack for returned temporaries of this kind.
    float values[kCount] = {};
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
  // From one cached row's scores to the next one's.
  int stride() const { return stride_; }
  // Rows of the block at hand, up to the next multiple of kRowStep.
  int padded_rows() const { return padded_rows_; }
  void begin_scores(const KvBlock& block);
  // Calls body(first row, number of rows, rows to prefetch) for near-equal parts of the group's
  // query rows of at most `most` each. The rows to prefetch are those of the block whose copy was
  // issued last, line for line with the rows at hand, and rows of zeros after the first part.
  template <class Body>
  void for_rows(int most, const Body& body) const {
    const int parts = (group_rows_ + most - 1) / most;
    for (int part = 0, first = 0; part < parts; ++part) {
      const int rows = (group_rows_ - first) / (parts - part);
      body(first, rows, part == 0 ? upcoming_ : scratch_.zero_rows);
      first += rows;
    }
  }

  Scratch& scratch_;
  const DecodeParams& params_;
  const float score_scale_;  // softmax_scale * log2(e)
  int32_t group_rows_ = 0;
  int32_t stride_ = 0;

 private:
  struct PendingCopy {
    int32_t slot;
    int rows;
  };
  const CopyMode mode_;
  const bool copies_;  // rows are really copied
  const int64_t row_stride_bytes_;
  const int page_shift_;
  int64_t request_ = 0;
  int located_rows_ = 0;  // padded
  int padded_rows_ = 0;
  const uint16_t* const* issued_;    // each copy is handed out to one block
  const uint16_t* const* upcoming_;  // what the block at hand prefetches
  // Room for one copy more than the ring has slots, which a test's faulty schedule issues.
  PendingCopy pending_[kMaxStages + 1];
  int pending_count_ = 0;
};

}  // namespace mla::host

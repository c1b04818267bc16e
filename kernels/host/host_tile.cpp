// SPDX-License-Identifier: MIT
#include "kernels/host/host_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/bf16.h"

namespace mla::host {
namespace {

int round_up_rows(int rows) {
  return (rows + kRowStep - 1) / kRowStep * kRowStep;
}

void prefetch(const uint16_t* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

}  // namespace

HostTile::HostTile(Scratch* scratch, const DecodeParams& params, CopyMode mode)
    : scratch_(*scratch),
      params_(params),
      score_scale_(static_cast<float>(params.softmax_scale / kLn2)),
      mode_(mode),
      page_shift_(std::countr_zero(static_cast<uint32_t>(params.page_size))),
      issued_(scratch->zero_rows),
      upcoming_(scratch->zero_rows) {
  if (mode_ == CopyMode::kChecked) {
    scratch_.checked_ring.resize(size_t{kMaxStages} * kMaxTileN * kHeadDim);
  }
}

void HostTile::begin_group(const RowGroup& group) {
  group_rows_ = static_cast<int32_t>(group.rows);
  stride_ = (group_rows_ + kPanelRows - 1) / kPanelRows * kPanelRows;
  request_ = group.request;
  pending_.clear();
  std::fill_n(scratch_.output, group.rows * kValueDim, 0.0f);
  // The softmax also computes the padding.
  std::fill_n(scratch_.scores, kMaxTileN * stride_, 0.0f);
}

void HostTile::locate(const KvBlock& block) {
  const auto* kv = static_cast<const uint16_t*>(params_.kv);
  const int32_t* pages = params_.kv_indices + params_.kv_indptr[request_];
  const int64_t in_page = params_.page_size - 1;
  for (int i = 0; i < block.rows; ++i) {
    const int64_t n = block.begin + i;
    const int64_t page = pages[n >> page_shift_];
    const uint16_t* row = kv + ((page << page_shift_) + (n & in_page)) * params_.kv_row_stride;
    scratch_.located[i] = row;
    prefetch(row);
  }
  // Behind the first lines, so that a row within one page does not ask for its walk twice.
  for (int i = 0; i < block.rows; ++i) prefetch(scratch_.located[i] + kHeadDim - 1);
  located_rows_ = round_up_rows(block.rows);
  std::fill(scratch_.located + block.rows, scratch_.located + located_rows_, scratch_.zero_row);
}

void HostTile::issue_copy(int32_t slot) {
  const uint16_t** rows = scratch_.rows[slot];
  if (mode_ == CopyMode::kPrefetch) {
    std::copy_n(scratch_.located, located_rows_, rows);
    std::fill(rows + located_rows_, rows + kMaxTileN, scratch_.zero_row);
    issued_ = rows;
    return;
  }
  for (int i = 0; i < located_rows_; ++i) {
    std::fill_n(checked_row(slot, i), kHeadDim, kBf16Nan);
    rows[i] = checked_row(slot, i);
  }
  pending_.push_back({slot, {scratch_.located, scratch_.located + located_rows_}});
}

void HostTile::wait_copies(int32_t outstanding) {
  while (pending_.size() > static_cast<size_t>(std::max(outstanding, 0))) {
    const PendingCopy& copy = pending_.front();
    for (size_t i = 0; i < copy.sources.size(); ++i) {
      std::copy_n(copy.sources[i], kHeadDim, checked_row(copy.slot, static_cast<int>(i)));
    }
    pending_.erase(pending_.begin());
  }
}

uint16_t* HostTile::checked_row(int32_t slot, int row) {
  return scratch_.checked_ring.data() + (int64_t{slot} * kMaxTileN + row) * kHeadDim;
}

void HostTile::begin_scores(const KvBlock& block) {
  padded_rows_ = round_up_rows(block.rows);
  upcoming_ = std::exchange(issued_, scratch_.zero_rows);
}

void HostTile::mask(const KvBlock& block, const int64_t* limits) {
  for (int i = 0; i < padded_rows_; ++i) {
    for (int r = 0; r < stride_; ++r) {
      if (block.begin + i >= limits[r]) {
        scratch_.scores[i * stride_ + r] = -std::numeric_limits<float>::infinity();
      }
    }
  }
}

float HostTile::log2(float value) {
  return std::log2(value);
}

void HostTile::store(int row, float scale, uint16_t* output) const {
  const float* values = scratch_.output + row * kValueDim;
  for (int c = 0; c < kValueDim; ++c) output[c] = float_to_bf16(values[c] * scale);
}

void HostTile::store(int row, float scale, float* output) const {
  const float* values = scratch_.output + row * kValueDim;
  for (int c = 0; c < kValueDim; ++c) output[c] = values[c] * scale;
}

}  // namespace mla::host

// SPDX-License-Identifier: MIT
#include "kernels/host/host_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/fp8.h"

namespace mla::host {
namespace {

int round_up_rows(int rows) {
  return (rows + kRowStep - 1) / kRowStep * kRowStep;
}

void prefetch(const uint8_t* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

void copy_row(KvDtype dtype, const uint8_t* source, uint16_t* target) {
  if (dtype == KvDtype::kBf16) {
    std::memcpy(target, source, kHeadDim * sizeof *target);
  } else {
    for (int c = 0; c < kHeadDim; ++c) target[c] = fp8_to_bf16(source[c]);
  }
}

}  // namespace

HostTile::HostTile(Scratch* scratch, const DecodeParams& params, CopyMode mode)
    : scratch_(*scratch),
      params_(params),
      score_scale_(static_cast<float>(params.softmax_scale * params.kv_scale / kLn2)),
      mode_(mode),
      copies_(mode == CopyMode::kChecked || params.kv_dtype == KvDtype::kFp8),
      row_stride_bytes_(params.kv_row_stride * (row_bytes(params.kv_dtype) / kHeadDim)),
      page_shift_(std::countr_zero(static_cast<uint32_t>(params.page_size))),
      issued_(scratch->zero_rows),
      upcoming_(scratch->zero_rows) {}

void HostTile::begin_group(const RowGroup& group) {
  group_rows_ = static_cast<int32_t>(group.rows);
  stride_ = (group_rows_ + kPanelRows - 1) / kPanelRows * kPanelRows;
  request_ = group.request;
  pending_count_ = 0;
  std::fill_n(scratch_.output, group.rows * kValueDim, 0.0f);
  // The softmax also computes the padding.
  std::fill_n(scratch_.scores, kMaxTileN * stride_, 0.0f);
}

void HostTile::locate(const KvBlock& block) {
  const auto* kv = static_cast<const uint8_t*>(params_.kv);
  const int32_t* pages = params_.kv_indices + params_.kv_indptr[request_];
  const int64_t in_page = params_.page_size - 1;
  for (int i = 0; i < block.rows; ++i) {
    const int64_t n = block.begin + i;
    const int64_t page = pages[n >> page_shift_];
    const uint8_t* row = kv + ((page << page_shift_) + (n & in_page)) * row_stride_bytes_;
    scratch_.located[i] = row;
    prefetch(row);
  }
  // Behind the first lines, so that a row within one page does not ask for its walk twice.
  const int64_t last_byte = row_bytes(params_.kv_dtype) - 1;
  for (int i = 0; i < block.rows; ++i) prefetch(scratch_.located[i] + last_byte);
  located_rows_ = round_up_rows(block.rows);
  const auto* zero_row = reinterpret_cast<const uint8_t*>(scratch_.zero_row);
  std::fill(scratch_.located + block.rows, scratch_.located + located_rows_, zero_row);
}

void HostTile::issue_copy(int32_t slot) {
  const uint16_t** rows = scratch_.rows[slot];
  if (!copies_) {
    for (int i = 0; i < located_rows_; ++i) {
      rows[i] = reinterpret_cast<const uint16_t*>(scratch_.located[i]);
    }
    std::fill(rows + located_rows_, rows + kMaxTileN, scratch_.zero_row);
    issued_ = rows;
    return;
  }
  for (int i = 0; i < located_rows_; ++i) {
    const uint8_t* source = scratch_.located[i];
    for (int64_t line = 64; line < row_bytes(params_.kv_dtype); line += 64) prefetch(source + line);
    if (mode_ == CopyMode::kChecked) std::fill_n(scratch_.ring[slot][i], kHeadDim, kBf16Nan);
    rows[i] = scratch_.ring[slot][i];
    scratch_.sources[slot][i] = source;
  }
  pending_[pending_count_++] = {slot, located_rows_};
}

void HostTile::wait_copies(int32_t outstanding) {
  const int retired = pending_count_ - std::max(outstanding, 0);
  if (retired <= 0) return;
  for (int copy = 0; copy < retired; ++copy) {
    const auto [slot, rows] = pending_[copy];
    for (int i = 0; i < rows; ++i) {
      copy_row(params_.kv_dtype, scratch_.sources[slot][i], scratch_.ring[slot][i]);
    }
  }
  pending_count_ -= retired;
  std::copy_n(pending_ + retired, pending_count_, pending_);
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
  const float total = scale * params_.kv_scale;
  for (int c = 0; c < kValueDim; ++c) output[c] = float_to_bf16(values[c] * total);
}

void HostTile::store(int row, float scale, float* output) const {
  const float* values = scratch_.output + row * kValueDim;
  const float total = scale * params_.kv_scale;
  for (int c = 0; c < kValueDim; ++c) output[c] = values[c] * total;
}

}  // namespace mla::host

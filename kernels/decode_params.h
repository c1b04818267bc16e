// SPDX-License-Identifier: MIT
// The arguments of one decode launch: plain pointers and sizes, shared by every backend. Pointers
// are in the device's memory. All strides count elements.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

struct DecodeParams {
  int32_t batch = 0;
  int32_t nhead = 0;
  int32_t q_len = 1;
  int32_t page_size = 1;
  KvDtype kv_dtype = KvDtype::kBf16;
  float softmax_scale = 0;  // multiplies q . k
  float kv_scale = 1;       // multiplies a dequantised fp8 element; 1 for bf16

  const uint16_t* q = nullptr;  // [batch * q_len, nhead, 576] bf16, 576 contiguous
  int64_t q_token_stride = 0;
  int64_t q_head_stride = 0;

  const void* kv = nullptr;     // [pages, page_size, 576] bf16 or fp8 e4m3
  int64_t kv_row_stride = 576;  // elements from one row to the next, also across a page's end
  int64_t kv_rows = 0;  // of the pool; 0: unknown. Below 2^32 bytes a GPU may address it in 32 bits

  // [batch + 1]: the pages of request b are kv_indices[kv_indptr[b] .. kv_indptr[b + 1])
  const int32_t* kv_indptr = nullptr;
  // Page numbers; entries past kv_indptr[batch] are never used.
  const int32_t* kv_indices = nullptr;
  // [batch]: rows used of the last page; ignored for a request without pages
  const int32_t* last_page_len = nullptr;

  uint16_t* out = nullptr;  // [batch * q_len, nhead, 512] bf16, contiguous; every row is written
  float* lse = nullptr;     // [batch * q_len, nhead] natural log; may be null; -inf for no rows
  // workspace_bytes() of space.h, aligned to 64 bytes; may be null for one split.
  void* workspace = nullptr;
};

// Rows cached for request b.
constexpr int64_t request_rows(const DecodeParams& p, int64_t b) {
  const int64_t pages = int64_t{p.kv_indptr[b + 1]} - p.kv_indptr[b];
  const int64_t last = p.last_page_len[b];  // read in any case: beside the others, not behind them
  return pages <= 0 ? 0 : (pages - 1) * p.page_size + last;
}

// Rows that query position t of q_len may attend to: causal over the last q_len positions.
constexpr int64_t visible_rows(int64_t rows, int64_t q_len, int64_t t) {
  const int64_t visible = rows - (q_len - 1 - t);
  return visible < 0 ? 0 : visible;
}

// Element offset of cached row n of request b.
constexpr int64_t row_offset(const DecodeParams& p, int64_t b, int64_t n) {
  const int64_t page = p.kv_indices[p.kv_indptr[b] + n / p.page_size];
  return (page * p.page_size + n % p.page_size) * p.kv_row_stride;
}

}  // namespace mla

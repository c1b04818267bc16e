// SPDX-License-Identifier: MIT
// One decode problem: the shape that is tuned, stored and looked up. Plain C++17, no HIP.
//
// Text form, the same in logs, database, command line and errors:
//   batch=8 nhead=12 seq_len=68000
// followed, only where they differ from the default, by
//   q_len=2 kv_dtype=fp8 page_size=64 shared_prefix=63240/8 imbalance=2 pool=large
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mla {

inline constexpr int kHeadDim = 576;   // 512 latent + 64 rope: the width of a cached row and of q
inline constexpr int kValueDim = 512;  // V is the first 512 columns of the same row
inline constexpr int kMaxBatch = 65535;
inline constexpr int kMaxHeads = 128;
inline constexpr int kMaxQLen = 8;
inline constexpr int64_t kMaxSeqLen = (1 << 24) - 1;

// Names reach the database: never renumber or rename.
enum class KvDtype : int32_t { kBf16 = 0, kFp8 = 1 };
// Whether 32-bit byte offsets reach every row of the KV pool (below 2^32 bytes) or not.
enum class PoolClass : int32_t { kSmall = 0, kLarge = 1 };

std::string_view name(KvDtype dtype);
std::string_view name(PoolClass pool);
bool parse_kv_dtype(std::string_view text, KvDtype* dtype);

struct Problem {
  int32_t batch = 1;    // requests, zero-length rows of a padded batch included
  int32_t nhead = 12;   // 1..128
  int64_t seq_len = 1;  // mean rows per request, rounded up; 0 means unknown (lookups only)
  int32_t q_len = 1;    // query positions per request, 1..8
  KvDtype kv_dtype = KvDtype::kBf16;
  int32_t page_size = 1;      // 1, 16 or 64 rows
  int64_t shared_prefix = 0;  // leading rows shared within a group of share_group requests
  int32_t share_group = 8;    // consecutive requests that share; fewer form one group
  int32_t imbalance = 1;      // class of max / mean length: 1 (at most 1.25), 2, 4, 8 (above 4)
  PoolClass pool = PoolClass::kSmall;

  bool operator==(const Problem& other) const;
  bool operator!=(const Problem& other) const { return !(*this == other); }
};

// Canonical text; equal problems have equal texts.
std::string to_text(const Problem& problem);

// Accepts the fields in any order, each at most once. Throws Error(kUsage) naming the field.
Problem parse_problem(std::string_view text);

// Throws Error(kUsage) naming the first field outside its range.
void validate(const Problem& problem);

// The imbalance class of a batch whose longest request has max_len rows: 1, 2, 4 or 8.
int32_t imbalance_class(int64_t max_len, int64_t mean_len);

constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

constexpr int element_bytes(KvDtype dtype) {
  return dtype == KvDtype::kFp8 ? 1 : 2;
}
// Of one cached row: 1152 for bf16, 576 for fp8.
constexpr int64_t row_bytes(KvDtype dtype) {
  return kHeadDim * element_bytes(dtype);
}

// KV bytes that one decode step has to read at least once: shared rows counted once.
double min_kv_bytes(const Problem& problem);

// Multiply-adds of the two products, counted as two operations each.
double decode_flops(const Problem& problem);

}  // namespace mla

template <>
struct std::hash<mla::Problem> {
  size_t operator()(const mla::Problem& problem) const noexcept;
};

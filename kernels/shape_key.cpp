// SPDX-License-Identifier: MIT
#include "kernels/shape_key.h"

#include <bit>

namespace mla {
namespace {

// Bits of each field, from the top: 6 kind, 16 batch, 7 nhead - 1, 3 q_len - 1, 1 dtype, 2 page,
// 2 sharing, 2 imbalance, 1 pool, 24 length.
enum class Kind : uint64_t { kExact = 1, kBucket = 2, kFamily = 3, kRobust = 4 };

bool in_range(const Problem& p) noexcept {
  return p.batch >= 1 && p.batch <= kMaxBatch && p.nhead >= 1 && p.nhead <= kMaxHeads &&
         p.seq_len >= 1 && p.seq_len <= kMaxSeqLen && p.q_len >= 1 && p.q_len <= kMaxQLen &&
         (p.page_size == 1 || p.page_size == 16 || p.page_size == 64) && p.shared_prefix >= 0 &&
         p.shared_prefix <= p.seq_len &&
         (p.imbalance == 1 || p.imbalance == 2 || p.imbalance == 4 || p.imbalance == 8) &&
         (p.kv_dtype == KvDtype::kBf16 || p.kv_dtype == KvDtype::kFp8) &&
         (p.pool == PoolClass::kSmall || p.pool == PoolClass::kLarge);
}

uint64_t page_code(int32_t page_size) noexcept {
  return page_size == 1 ? 0 : page_size == 16 ? 1 : 2;
}

ShapeKey pack(Kind kind, const Problem& p, int32_t batch, uint64_t length) noexcept {
  uint64_t key = static_cast<uint64_t>(kind);
  key = key << 16 | static_cast<uint64_t>(batch);
  key = key << 7 | static_cast<uint64_t>(p.nhead - 1);
  key = key << 3 | static_cast<uint64_t>(p.q_len - 1);
  key = key << 1 | static_cast<uint64_t>(p.kv_dtype);
  key = key << 2 | page_code(p.page_size);
  key = key << 2 | static_cast<uint64_t>(sharing_class(p));
  key = key << 2 | static_cast<uint64_t>(std::countr_zero(static_cast<uint32_t>(p.imbalance)));
  key = key << 1 | static_cast<uint64_t>(p.pool);
  return key << 24 | length;
}

}  // namespace

ShapeKey exact_key(const Problem& problem) noexcept {
  if (!in_range(problem)) return kNoKey;
  return pack(Kind::kExact, problem, problem.batch, static_cast<uint64_t>(problem.seq_len));
}

ShapeKey bucket_key(const Problem& problem) noexcept {
  if (!in_range(problem)) return kNoKey;
  const int32_t bucket = length_bucket(problem.seq_len);
  return pack(Kind::kBucket, problem, problem.batch, static_cast<uint64_t>(bucket));
}

ShapeKey family_key(const Problem& problem) noexcept {
  return in_range(problem) ? pack(Kind::kFamily, problem, 0, 0) : kNoKey;
}

ShapeKey robust_key(const Problem& problem) noexcept {
  if (problem.seq_len != 0 || problem.shared_prefix != 0) return kNoKey;
  Problem of_any_length = problem;
  of_any_length.seq_len = kMaxSeqLen;
  return in_range(of_any_length) ? pack(Kind::kRobust, of_any_length, problem.batch, 0) : kNoKey;
}

int32_t length_bucket(int64_t seq_len) noexcept {
  // 2^((2k - 1) / 8) in units of 2^-30: where the rounding of 4 * log2 steps up within an octave.
  constexpr uint64_t kSteps[4] = {1170923762, 1392470869, 1655936265, 1969251188};
  if (seq_len < 1) return 0;
  const auto length = static_cast<uint64_t>(seq_len);
  const int octave = std::bit_width(length) - 1;
  // length / 2^octave in units of 2^-30; exact, since lengths have fewer than 31 bits.
  const uint64_t mantissa = octave <= 30 ? length << (30 - octave) : length >> (octave - 30);
  int32_t bucket = 4 * octave;
  for (const uint64_t step : kSteps) bucket += mantissa >= step ? 1 : 0;
  return bucket;
}

LengthRange bucket_lengths(int32_t bucket) noexcept {
  // The first length whose bucket is at least the one asked for.
  const auto first_from = [](int32_t from) {
    int64_t low = 1, high = kMaxSeqLen + 1;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (length_bucket(middle) >= from) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  return {first_from(bucket), first_from(bucket + 1) - 1};
}

int32_t sharing_class(const Problem& problem) noexcept {
  if (problem.shared_prefix <= 0) return 0;
  return 2 * problem.shared_prefix < problem.seq_len ? 1 : 2;
}

}  // namespace mla

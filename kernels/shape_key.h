// SPDX-License-Identifier: MIT
// The one function that turns a problem into the key under which its winner is found. The tuner's
// resume, the database snapshot and the run-time lookup all call it; nothing else builds a key.
//
// A key is injective over the fields it holds (64 bits are enough for the ranges of problem.h), so
// equal keys mean equal shapes. Four kinds:
//   exact    every field as it is
//   bucket   seq_len replaced by its quarter-octave bucket, round(4 * log2(seq_len)):
//            lengths within +-9 % of 2^(k/4) share one
//   robust   seq_len unknown (0): a plan for any length
//   family   batch and seq_len left out: shapes that differ in these two only bracket each other
// Of the shared prefix only the class goes in: none, below half of the rows, half or more.
#pragma once

#include <cstdint>

#include "kernels/problem.h"

namespace mla {

using ShapeKey = uint64_t;

// Never the key of a problem.
inline constexpr ShapeKey kNoKey = 0;

// kNoKey for a problem outside the ranges of problem.h or with an unknown length. No allocation.
ShapeKey exact_key(const Problem& problem) noexcept;
ShapeKey bucket_key(const Problem& problem) noexcept;
ShapeKey family_key(const Problem& problem) noexcept;
// kNoKey unless the length is unknown.
ShapeKey robust_key(const Problem& problem) noexcept;

// round(4 * log2(seq_len)) for seq_len >= 1, by integer comparison so that every machine agrees.
int32_t length_bucket(int64_t seq_len) noexcept;

// The lengths of a bucket, both ends included; first > last for a bucket without any.
struct LengthRange {
  int64_t first = 1;
  int64_t last = 0;
};
LengthRange bucket_lengths(int32_t bucket) noexcept;

// 0: none, 1: below half of seq_len, 2: half or more.
int32_t sharing_class(const Problem& problem) noexcept;

}  // namespace mla

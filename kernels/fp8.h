// SPDX-License-Identifier: MIT
// fp8 e4m3 as the OCP specification has it ("e4m3fn"): bias 7, largest number 448, no infinity, NaN
// is 0x7F and 0xFF. gfx942's own e4m3 (FNUZ: bias 8, NaN 0x80, no negative zero) is another format:
// caches are OCP everywhere, and a target that reads FNUZ has to convert.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/bf16.h"

namespace mla {

inline constexpr float kFp8Max = 448;

// Exact: every e4m3 number is one of bf16.
constexpr uint16_t fp8_to_bf16(uint8_t value) {
  const int magnitude = value & 0x7F;
  const int normal = (magnitude << 4) + (120 << 7);     // exponents 1..15 of bias 7 to bias 127
  const auto multiple = static_cast<float>(magnitude);  // subnormal: of 2^-9
  const int subnormal = static_cast<int>(std::bit_cast<uint32_t>(multiple * 0x1p-9f) >> 16);
  int bits = magnitude < 8 ? subnormal : normal;
  bits = magnitude == 0x7F ? 0x7FC0 : bits;
  return static_cast<uint16_t>(bits | (value & 0x80) << 8);
}

inline float fp8_to_float(uint8_t value) {
  return bf16_to_float(fp8_to_bf16(value));
}

// Rounds to nearest even; numbers out of range become the largest one of their sign.
constexpr uint8_t float_to_fp8(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 31 << 7;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  uint32_t rounded = 0;
  if (magnitude > 0x7F800000) {
    rounded = 0x7F;
  } else if (magnitude >= std::bit_cast<uint32_t>(kFp8Max)) {
    rounded = 0x7E;
  } else if (magnitude >= std::bit_cast<uint32_t>(0x1p-6f)) {
    rounded = ((magnitude + 0x7FFFF + (magnitude >> 20 & 1)) >> 20) - (120 << 3);
  } else {
    // The addition rounds to a multiple of 2^-9.
    constexpr float kAnchor = 0x1p14f;
    const float sum = std::bit_cast<float>(magnitude) + kAnchor;
    rounded = std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(kAnchor);
  }
  return static_cast<uint8_t>(sign | rounded);
}

}  // namespace mla

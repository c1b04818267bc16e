// SPDX-License-Identifier: MIT
// fp8 e4m3 as the OCP specification has it ("e4m3fn"): bias 7, largest number 448, no infinity, NaN
// is 0x7F and 0xFF. gfx942's own e4m3 (FNUZ: bias 8, NaN 0x80, no negative zero) is another format:
// caches are OCP everywhere, and a target that reads FNUZ has to convert.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/bf16.h"

namespace mla {

inline constexpr float kFp8Max = 448;

// Exact: every e4m3 number is one of bf16.
inline uint16_t fp8_to_bf16(uint8_t value) {
  const int magnitude = value & 0x7F;
  const int normal = (magnitude << 4) + (120 << 7);  // exponents 1..15 of bias 7 to bias 127
  const float multiple = static_cast<float>(magnitude) * 0x1p-9f;  // subnormal: of 2^-9
  uint32_t subnormal;
  std::memcpy(&subnormal, &multiple, sizeof subnormal);
  int bits = magnitude < 8 ? static_cast<int>(subnormal >> 16) : normal;
  bits = magnitude == 0x7F ? 0x7FC0 : bits;
  return static_cast<uint16_t>(bits | (value & 0x80) << 8);
}

inline float fp8_to_float(uint8_t value) {
  return bf16_to_float(fp8_to_bf16(value));
}

// Of a float given by its bits, for code without memcpy. Rounds to nearest even; numbers out of
// range become the largest one of their sign.
constexpr uint8_t fp8_of_float_bits(uint32_t bits) {
  constexpr uint32_t kMaxBits = 0x43E00000, kLeastNormalBits = 0x3C800000;  // 448 and 2^-6
  const uint32_t sign = bits >> 31 << 7;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  uint32_t rounded = 0;
  if (magnitude > 0x7F800000) {
    rounded = 0x7F;
  } else if (magnitude >= kMaxBits) {
    rounded = 0x7E;
  } else if (magnitude >= kLeastNormalBits) {
    rounded = ((magnitude + 0x7FFFF + (magnitude >> 20 & 1)) >> 20) - (120 << 3);
  } else if (magnitude >> 23 >= 117) {  // 2^-10 and more: a multiple of 2^-9
    const uint32_t shift = 141 - (magnitude >> 23);
    const uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
    rounded = (mantissa + (1u << (shift - 1)) - 1 + (mantissa >> shift & 1)) >> shift;
  }
  return static_cast<uint8_t>(sign | rounded);
}

inline uint8_t float_to_fp8(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return fp8_of_float_bits(bits);
}

}  // namespace mla

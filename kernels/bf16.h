// SPDX-License-Identifier: MIT
// bfloat16 as the upper half of an IEEE float32. Rounds to nearest even; NaN stays NaN.
#pragma once

#include <cstdint>
#include <cstring>

namespace mla {

// All bits set: a NaN in bf16 as well as in float32, double and fp8 e4m3, whatever the alignment.
inline constexpr uint16_t kBf16Nan = 0xFFFF;

inline float bf16_to_float(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

inline uint16_t float_to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace mla

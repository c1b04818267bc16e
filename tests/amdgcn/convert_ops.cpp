// SPDX-License-Identifier: MIT
// Conversions between number formats. Out-of-range floats saturate, NaN converts to 0 (CDNA3 ISA
// manual, section 12).
#include <cmath>
#include <limits>

#include "kernels/bf16.h"
#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

template <class T>
T saturated(float value) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value != value) return 0;
  const double truncated = std::trunc(static_cast<double>(value));
  if (truncated <= kLow) return std::numeric_limits<T>::min();
  if (truncated >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(truncated);
}

}  // namespace

void add_convert_ops(OpTable* table) {
  const OpTable ops = {
      {"v_cvt_f32_u32", lanes([](uint32_t a) { return static_cast<float>(a); })},
      {"v_cvt_f32_i32", lanes([](int32_t a) { return static_cast<float>(a); })},
      {"v_cvt_u32_f32", lanes([](float a) { return saturated<uint32_t>(a); })},
      {"v_cvt_i32_f32", lanes([](float a) { return saturated<int32_t>(a); })},
      {"v_cvt_f32_ubyte0", lanes([](uint32_t a) { return static_cast<float>(a & 0xFF); })},
      {"v_cvt_f32_ubyte1", lanes([](uint32_t a) { return static_cast<float>(a >> 8 & 0xFF); })},
      {"v_cvt_f32_ubyte2", lanes([](uint32_t a) { return static_cast<float>(a >> 16 & 0xFF); })},
      {"v_cvt_f32_ubyte3", lanes([](uint32_t a) { return static_cast<float>(a >> 24); })},
      // gfx950; the first source goes to the lower half.
      {"v_cvt_pk_bf16_f32", lanes([](float a, float b) {
         return static_cast<uint32_t>(float_to_bf16(a)) | static_cast<uint32_t>(float_to_bf16(b))
                                                              << 16;
       })},
  };
  table->insert(ops.begin(), ops.end());
}

}  // namespace mla::amdgcn

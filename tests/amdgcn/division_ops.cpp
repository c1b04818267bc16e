// SPDX-License-Identifier: MIT
// The three instructions around v_rcp_f32 that make a correctly rounded division: v_div_scale_f32
// moves operands away from the ends of the exponent range and marks in VCC where the quotient has
// to be moved back, v_div_fmas_f32 takes the last step and moves it back, v_div_fixup_f32 puts in
// the special cases (CDNA3 ISA manual, section 12: VOP3A).
#include <bit>
#include <cmath>
#include <limits>

#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

constexpr int kBias = 127;

int biased_exponent(float value) {
  return static_cast<int>(std::bit_cast<uint32_t>(value) >> 23 & 0xFF);
}

bool is_denormal(double value) {
  return value != 0 && std::fabs(value) < std::numeric_limits<float>::min();
}

// value is the numerator or the denominator.
WithMask<float> scaled(float value, float denominator, float numerator) {
  const double quotient = static_cast<double>(numerator) / denominator;
  const bool is_denominator = value == denominator;
  if (numerator == 0 || denominator == 0) return {std::numeric_limits<float>::quiet_NaN(), false};
  if (biased_exponent(numerator) - biased_exponent(denominator) >= 96) {
    return {is_denominator ? std::ldexp(value, 64) : value, true};
  }
  if (is_denormal(denominator)) return {std::ldexp(value, 64), false};
  const bool inverse_denormal = is_denormal(1.0 / denominator);
  if (inverse_denormal && is_denormal(quotient)) {
    return {is_denominator ? std::ldexp(value, -64) : value, true};
  }
  if (inverse_denormal) return {std::ldexp(value, -64), false};
  if (is_denormal(quotient)) return {value == numerator ? std::ldexp(value, 64) : value, true};
  if (biased_exponent(numerator) <= 23) return {std::ldexp(value, 64), false};
  return {value, false};
}

float moved_back(float a, float b, float c, bool marked) {
  const float sum = std::fma(a, b, c);
  if (!marked) return sum;
  return std::ldexp(sum, biased_exponent(c) > kBias ? 64 : -64);
}

float fixed(float quotient, float denominator, float numerator) {
  const float sign = std::copysign(1.0f, denominator) * std::copysign(1.0f, numerator);
  if (std::isnan(numerator)) return numerator;
  if (std::isnan(denominator)) return denominator;
  if (denominator == 0 && numerator == 0) return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(denominator) && std::isinf(numerator))
    return std::numeric_limits<float>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator))
    return sign * std::numeric_limits<float>::infinity();
  if (std::isinf(denominator) || numerator == 0) return sign * 0.0f;
  if (biased_exponent(numerator) - biased_exponent(denominator) < -150) return sign * 0.0f;
  return std::copysign(quotient, sign);
}

// VCC is read without being named.
void fused_step(Wave& wave, const Op& op) {
  const LaneValues<float> a(wave, op, 1);
  const LaneValues<float> b(wave, op, 2);
  const LaneValues<float> c(wave, op, 3);
  const uint64_t vcc = wave.scalar64(kVccRegister);
  LaneResult<float> result;
  for (int lane = 0; lane < kLanes; ++lane) {
    result.set(lane, moved_back(a[lane], b[lane], c[lane], (vcc >> lane & 1) != 0));
  }
  result.write(wave, op);
}

}  // namespace

void add_division_ops(OpTable* table) {
  (*table)["v_div_scale_f32"] = lanes([](float value, float denominator, float numerator) {
    return scaled(value, denominator, numerator);
  });
  (*table)["v_div_fmas_f32"] = {fused_step, Family::kVector, {}};
  (*table)["v_div_fixup_f32"] = lanes([](float quotient, float denominator, float numerator) {
    return fixed(quotient, denominator, numerator);
  });
}

}  // namespace mla::amdgcn

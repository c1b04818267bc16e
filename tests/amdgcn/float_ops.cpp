// SPDX-License-Identifier: MIT
// Floating-point arithmetic of vector registers. Denormals are kept, as the kernel descriptors ask;
// the transcendental instructions flush them (CDNA3 ISA manual, section 12). Rounding is to nearest
// even.
#include <bit>
#include <cmath>

#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

// Of a number and a NaN the number; of equal values, zeros of both signs included, the one with the
// wanted sign.
float maximum(float a, float b) {
  if (a == b) return std::bit_cast<float>(std::bit_cast<uint32_t>(a) & std::bit_cast<uint32_t>(b));
  return b != b || a > b ? a : b;
}

float minimum(float a, float b) {
  if (a == b) return std::bit_cast<float>(std::bit_cast<uint32_t>(a) | std::bit_cast<uint32_t>(b));
  return b != b || a < b ? a : b;
}

float median(float a, float b, float c) {
  if (a != a || b != b || c != c) return minimum(minimum(a, b), c);
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

// v_frexp_*: a zero, infinity or NaN has exponent 0 and is its own mantissa.
float mantissa(float value) {
  int exponent = 0;
  return std::isfinite(value) ? std::frexp(value, &exponent) : value;
}

int32_t exponent_of(float value) {
  int exponent = 0;
  if (std::isfinite(value)) std::frexp(value, &exponent);
  return exponent;
}

void add_arithmetic(OpTable* table) {
  const auto multiply_add = [](float a, float b, float c) { return std::fma(a, b, c); };
  const OpTable ops = {
      {"v_add_f32", lanes([](float a, float b) { return a + b; })},
      {"v_sub_f32", lanes([](float a, float b) { return a - b; })},
      {"v_subrev_f32", lanes([](float a, float b) { return b - a; })},
      {"v_mul_f32", lanes([](float a, float b) { return a * b; })},
      {"v_fma_f32", lanes(multiply_add)},
      {"v_fmamk_f32", lanes(multiply_add)},
      {"v_fmaak_f32", lanes(multiply_add)},
      {"v_fmac_f32",
       accumulating_lanes([](float sum, float a, float b) { return std::fma(a, b, sum); })},
      {"v_max_f32", lanes([](float a, float b) { return maximum(a, b); })},
      {"v_min_f32", lanes([](float a, float b) { return minimum(a, b); })},
      {"v_max3_f32", lanes([](float a, float b, float c) { return maximum(maximum(a, b), c); })},
      {"v_min3_f32", lanes([](float a, float b, float c) { return minimum(minimum(a, b), c); })},
      {"v_med3_f32", lanes([](float a, float b, float c) { return median(a, b, c); })},
      {"v_ldexp_f32", lanes([](float a, int32_t exponent) { return std::ldexp(a, exponent); })},
      {"v_frexp_mant_f32", lanes([](float a) { return mantissa(a); })},
      {"v_frexp_exp_i32_f32", lanes([](float a) { return exponent_of(a); })},
      {"v_floor_f32", lanes([](float a) { return std::floor(a); })},
      {"v_ceil_f32", lanes([](float a) { return std::ceil(a); })},
      {"v_trunc_f32", lanes([](float a) { return std::trunc(a); })},
      {"v_rndne_f32", lanes([](float a) { return std::nearbyint(a); })},
      {"v_fract_f32", lanes([](float a) { return a - std::floor(a); })},
  };
  table->insert(ops.begin(), ops.end());
}

void add_transcendentals(OpTable* table) {
  const auto reciprocal = [](float a) { return flushed(1.0f / flushed(a)); };
  const OpTable ops = {
      {"v_exp_f32", lanes([](float a) { return flushed(std::exp2(flushed(a))); })},
      {"v_log_f32", lanes([](float a) { return std::log2(flushed(a)); })},
      {"v_rcp_f32", lanes(reciprocal)},
      {"v_rcp_iflag_f32", lanes(reciprocal)},
      {"v_rsq_f32", lanes([](float a) { return 1.0f / std::sqrt(flushed(a)); })},
      {"v_sqrt_f32", lanes([](float a) { return std::sqrt(flushed(a)); })},
  };
  table->insert(ops.begin(), ops.end());
}

}  // namespace

void add_float_ops(OpTable* table) {
  add_arithmetic(table);
  add_transcendentals(table);
}

}  // namespace mla::amdgcn

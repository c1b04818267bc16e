// SPDX-License-Identifier: MIT
// Two float32 results per lane from register pairs: v_pk_*_f32, v_pk_mov_b32. op_sel and op_sel_hi
// choose which half of each source feeds the low and the high result.
#include <bit>
#include <cmath>

#include "kernels/error.h"
#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {
namespace {

void read_half(const Wave& wave, const Source& source, bool high, bool negate, float* values) {
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t bits = 0;
    switch (source.file) {
      case File::kVector:
        bits = wave.vectors[source.index + (high ? 1 : 0)][lane];
        break;
      case File::kScalar:
        bits = wave.scalars[source.index + (high ? 1 : 0)];
        break;
      case File::kConstant:
        bits = static_cast<uint32_t>(source.bits);
        break;
      case File::kNone:
        break;
    }
    if (negate) bits ^= 0x80000000u;
    values[lane] = std::bit_cast<float>(bits);
  }
  if (source.file == File::kConstant && high) {
    // The manual does not say what the upper half of an inline constant is.
    throw Error(ErrorCode::kDevice, "packed math reads the upper half of a constant");
  }
}

void write_half(Wave& wave, const Op& op, bool high, const float* values) {
  Lanes& target = wave.vectors[op.operands[0].index + (high ? 1 : 0)];
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((wave.exec() >> lane & 1) != 0) target[lane] = std::bit_cast<uint32_t>(values[lane]);
  }
}

template <class F, size_t kSources>
void packed(Wave& wave, const Op& op) {
  alignas(64) float results[2][kLanes];
  for (const bool high : {false, true}) {
    alignas(64) float sources[3][kLanes];
    for (size_t i = 0; i < kSources; ++i) {
      read_half(wave,
                op.operands[i + 1],
                high ? op.select_high[i] : op.select_low[i],
                high ? op.negate_high[i] : op.negate_low[i],
                sources[i]);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      results[high ? 1 : 0][lane] = F{}(sources[0][lane], sources[1][lane], sources[2][lane]);
    }
  }
  write_half(wave, op, false, results[0]);
  write_half(wave, op, true, results[1]);
}

template <size_t kSources, class F>
OpInfo packed_lanes(F) {
  return {packed<F, kSources>, Family::kPacked, {}};
}

// The low result from the first source, the high one from the second, each by its own bit of
// op_sel.
void packed_move(Wave& wave, const Op& op) {
  alignas(64) float low[kLanes];
  alignas(64) float high[kLanes];
  read_half(wave, op.operands[1], op.select_low[0], false, low);
  read_half(wave, op.operands[2], op.select_low[1], false, high);
  write_half(wave, op, false, low);
  write_half(wave, op, true, high);
}

}  // namespace

void add_packed_ops(OpTable* table) {
  (*table)["v_pk_fma_f32"] =
      packed_lanes<3>([](float a, float b, float c) { return std::fma(a, b, c); });
  (*table)["v_pk_mul_f32"] = packed_lanes<2>([](float a, float b, float) { return a * b; });
  (*table)["v_pk_add_f32"] = packed_lanes<2>([](float a, float b, float) { return a + b; });
  (*table)["v_pk_mov_b32"] = {packed_move, Family::kPacked, {}};
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
// Matrix multiply-accumulate of bf16 with float32 sums. With N = 16 or 32 rows and columns and K
// inner values, lane l holds of A row l % N and of B column l % N the inner values K / (64 / N) *
// (l / N) and following, two a register; of C and D column l % N (CDNA3 ISA manual, section 7:
// matrix arithmetic instructions). The exec mask is ignored.
#include <bit>

#include "kernels/bf16.h"
#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {
namespace {

// Row of D that register r of a lane holds: groups of four consecutive rows, lane groups
// interleaved.
template <int kSize>
constexpr int row_of(int lane, int r) {
  constexpr int kGroups = kLanes / kSize;
  return r / 4 * (4 * kGroups) + lane / kSize * 4 + r % 4;
}

template <int kSize, int kInner>
void gather(const Wave& wave, int first_register, float (*matrix)[kSize]) {
  constexpr int kPerLane = kInner * kSize / kLanes;
  for (int r = 0; r < kPerLane / 2; ++r) {
    const Lanes& lanes = wave.vectors[first_register + r];
    for (int lane = 0; lane < kLanes; ++lane) {
      const int k = kPerLane * (lane / kSize) + 2 * r;
      matrix[k][lane % kSize] = bf16_to_float(static_cast<uint16_t>(lanes[lane]));
      matrix[k + 1][lane % kSize] = bf16_to_float(static_cast<uint16_t>(lanes[lane] >> 16));
    }
  }
}

float start_value(const Wave& wave, const Source& source, int r, int lane) {
  if (source.file == File::kVector)
    return std::bit_cast<float>(wave.vectors[source.index + r][lane]);
  return std::bit_cast<float>(static_cast<uint32_t>(source.bits));
}

template <int kSize, int kInner>
void multiply(Wave& wave, const Op& op) {
  constexpr int kResults = kSize * kSize / kLanes;
  alignas(64) float a[kInner][kSize];
  alignas(64) float b[kInner][kSize];
  alignas(64) float d[kSize][kSize];
  gather<kSize, kInner>(wave, op.operands[1].index, a);
  gather<kSize, kInner>(wave, op.operands[2].index, b);
  for (int r = 0; r < kResults; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      d[row_of<kSize>(lane, r)][lane % kSize] = start_value(wave, op.operands[3], r, lane);
    }
  }
  for (int row = 0; row < kSize; ++row) {
    for (int k = 0; k < kInner; ++k) {
      for (int column = 0; column < kSize; ++column) d[row][column] += a[k][row] * b[k][column];
    }
  }
  for (int r = 0; r < kResults; ++r) {
    Lanes& target = wave.vectors[op.operands[0].index + r];
    for (int lane = 0; lane < kLanes; ++lane) {
      target[lane] = std::bit_cast<uint32_t>(d[row_of<kSize>(lane, r)][lane % kSize]);
    }
  }
}

}  // namespace

void add_matrix_ops(OpTable* table) {
  (*table)["v_mfma_f32_16x16x16_bf16"] = {multiply<16, 16>, Family::kMatrix, {}};
  (*table)["v_mfma_f32_32x32x8_bf16"] = {multiply<32, 8>, Family::kMatrix, {}};
  (*table)["v_mfma_f32_16x16x32_bf16"] = {multiply<16, 32>, Family::kMatrix, {}};
  (*table)["v_mfma_f32_32x32x16_bf16"] = {multiply<32, 16>, Family::kMatrix, {}};
}

}  // namespace mla::amdgcn

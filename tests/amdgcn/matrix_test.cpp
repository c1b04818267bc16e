// SPDX-License-Identifier: MIT
// The layouts of MFMA operands (CDNA3 ISA manual, section 7; CDNA4 for K = 32 and 16). For 16 x 16
// results lane l holds rows 4 (l / 16) + 0..3 of column l % 16; for 32 x 32 rows 8 g + 4 (l / 32) +
// 0..3 of column l % 32, g = 0..3. Of A lane l holds row l % N, of B column l % N, of both the K /
// (64 / N) inner values from K / (64 / N) (l / N) on.
#include <boost/test/unit_test.hpp>

#include "kernels/bf16.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

BOOST_AUTO_TEST_SUITE(matrix)

struct Shape {
  const char* mnemonic;
  int size;
  int inner;
};
constexpr Shape kShapes[] = {{"v_mfma_f32_16x16x16_bf16", 16, 16},
                             {"v_mfma_f32_32x32x8_bf16", 32, 8},
                             {"v_mfma_f32_16x16x32_bf16", 16, 32},
                             {"v_mfma_f32_32x32x16_bf16", 32, 16}};

// Puts a value at (row or column n, inner k) of an operand in the registers from `first` on.
void place(OneWave* one, const Shape& shape, int first, int n, int k, float value) {
  const int per_lane = shape.inner * shape.size / kLanes;
  const int lane = n + shape.size * (k / per_lane);
  const int element = k % per_lane;
  uint32_t& word = one->v(first + element / 2)[static_cast<size_t>(lane)];
  word |= static_cast<uint32_t>(mla::float_to_bf16(value)) << (element % 2 * 16);
}

float result(const OneWave& one, const Shape& shape, int first, int row, int column) {
  if (shape.size == 16) return one.f(first + row % 4, row / 4 * 16 + column);
  return one.f(first + row / 8 * 4 + row % 4, row / 4 % 2 * 32 + column);
}

std::string registers(int first, int count) {
  return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

BOOST_AUTO_TEST_CASE(products_of_single_elements_land_in_row_of_a_and_column_of_b) {
  std::vector<std::string> texts;
  for (const Shape& shape : kShapes) {
    const int operand_registers = shape.inner * shape.size / kLanes / 2;
    const std::string d = registers(8, shape.size * shape.size / kLanes);
    texts.push_back(std::string(shape.mnemonic) + " " + d + ", " + registers(0, operand_registers) +
                    ", " + registers(4, operand_registers) + ", " + d);
  }
  const auto assembled = assemble(texts);
  for (size_t s = 0; s < texts.size(); ++s) {
    const Shape& shape = kShapes[s];
    const int results = shape.size * shape.size / kLanes;
    for (int probe = 0; probe < 8; ++probe) {
      const int row = (probe * 11 + 3) % shape.size;
      const int column = (probe * 7 + 5) % shape.size;
      const int k = (probe * 5 + 1) % shape.inner;
      OneWave one;
      for (int i = 0; i < 8; ++i) one.v(i).fill(0);
      place(&one, shape, 0, row, k, 3);
      place(&one, shape, 4, column, k, 5);
      place(&one,
            shape,
            4,
            (column + 1) % shape.size,
            (k + 1) % shape.inner,
            7);  // meets a zero of A
      for (int i = 0; i < results; ++i) one.v(8 + i).fill(std::bit_cast<uint32_t>(100.0f));
      one.set_exec(1);  // ignored
      one.run(assembled[s]);
      for (int i = 0; i < shape.size; ++i) {
        for (int j = 0; j < shape.size; ++j) {
          const float expected = i == row && j == column ? 115.0f : 100.0f;
          BOOST_TEST(result(one, shape, 8, i, j) == expected,
                     shape.mnemonic << " " << i << "," << j);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_may_start_from_a_constant_and_live_in_accumulation_registers) {
  OneWave one;
  one.v(0).fill(0x3F803F80);  // every element of A and B is 1
  one.v(1).fill(0x3F803F80);
  one.run("v_mfma_f32_16x16x16_bf16 a[0:3], v[0:1], v[0:1], 2.0");
  for (int i = 0; i < 4; ++i) BOOST_TEST(std::bit_cast<float>(one.a(i)[37]) == 18.0f);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

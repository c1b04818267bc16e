// SPDX-License-Identifier: MIT
// Vector instructions that clang's folding does not reach: carries, 16-bit and 24-bit forms,
// transcendentals, saturation, packed float32 (CDNA3 ISA manual, section 12: VOP1, VOP2, VOP3,
// VOP3P).
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "kernels/bf16.h"
#include "kernels/error.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr uint32_t word(float value) {
  return std::bit_cast<uint32_t>(value);
}

// v0 after the text, with v1, v2 and v3 set.
struct Case {
  std::string text;
  uint32_t a, b, c;
  uint32_t expected;
};

void check(const std::vector<Case>& cases) {
  std::vector<std::string> texts;
  for (const Case& c : cases) texts.push_back(c.text);
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < cases.size(); ++i) {
    OneWave one;
    one.v(1).fill(cases[i].a);
    one.v(2).fill(cases[i].b);
    one.v(3).fill(cases[i].c);
    one.run(assembled[i]);
    BOOST_TEST(one.v(0)[0] == cases[i].expected,
               cases[i].text << " gives " << std::hex << one.v(0)[0]);
  }
}

BOOST_AUTO_TEST_SUITE(vector)

BOOST_AUTO_TEST_CASE(carries_are_lane_masks) {
  OneWave one;
  one.fill(1, [](int lane) { return lane < 32 ? 0xFFFFFFFFu : 1u; });
  one.v(2).fill(1);
  one.run("v_add_co_u32 v0, vcc, v1, v2\n v_addc_co_u32 v3, vcc, v2, v2, vcc");
  BOOST_TEST(one.v(0)[0] == 0u);
  BOOST_TEST(one.v(0)[63] == 2u);
  BOOST_TEST(one.v(3)[0] == 3u);
  BOOST_TEST(one.v(3)[63] == 2u);
  one.run(
      "v_sub_co_u32 v0, s[4:5], v2, v1\n v_subrev_co_u32 v3, s[6:7], v1, v2\n"
      "v_subb_co_u32 v4, s[8:9], v2, v2, s[4:5]\n v_subbrev_co_u32 v5, s[8:9], v1, v1, s[4:5]");
  BOOST_TEST(one.s64(4) == 0xFFFFFFFFu);  // 1 - 0xFFFFFFFF borrows in the lower lanes
  BOOST_TEST(one.s64(6) == 0xFFFFFFFFu);
  BOOST_TEST((one.v(0) == one.v(3)));
  BOOST_TEST(one.v(4)[0] == 0xFFFFFFFFu);
  BOOST_TEST(one.v(4)[63] == 0u);
  BOOST_TEST(one.v(5)[0] == 0xFFFFFFFFu);
}

BOOST_AUTO_TEST_CASE(reversed_forms_swap_their_sources) {
  check({{"v_subrev_u32 v0, v1, v2", 3, 10, 0, 7},
         {"v_subrev_u16 v0, v1, v2", 3, 0xAAAA0002, 0, 0xFFFF},
         {"v_subrev_f32 v0, v1, v2", word(3), word(10), 0, word(7)}});
}

BOOST_AUTO_TEST_CASE(short_multiplications_take_24_or_16_bits) {
  check({{"v_mul_hi_u32_u24 v0, v1, v2", 0xFF800000, 0x200, 0, 1},
         {"v_mul_i32_i24 v0, v1, v2", 0x00FFFFFF, 5, 0, static_cast<uint32_t>(-5)},
         {"v_mad_i32_i24 v0, v1, v2, v3", 0x00FFFFFF, 5, 100, 95},
         {"v_mad_u32_u16 v0, v1, v2, v3", 0xABCD0003, 0xABCD0004, 5, 17},
         {"v_mul_lo_u16 v0, v1, v2", 0x12340101, 0x0100, 0, 0x0100}});
}

BOOST_AUTO_TEST_CASE(halves_of_16_bits_clear_the_upper_half) {
  check({{"v_add_u16 v0, v1, v2", 0xAAAAFFFF, 0xBBBB0002, 0, 1},
         {"v_sub_u16 v0, v1, v2", 0xAAAA0001, 0xBBBB0002, 0, 0xFFFF},
         {"v_min_u16 v0, v1, v2", 0xAAAA0009, 0x00000007, 0, 7},
         {"v_max_u16 v0, v1, v2", 0xAAAA0009, 0x00000007, 0, 9},
         {"v_lshlrev_b16 v0, v1, v2", 4, 0xFFFF1234, 0, 0x2340},
         {"v_lshrrev_b16 v0, v1, v2", 4, 0xFFFF1234, 0, 0x123},
         {"v_bitop3_b16 v0, v1, v2, v3 bitop3:0x80", 0xFFFFFFFF, 0xFFFF0F0F, 0xFFFF00FF, 0x000F}});
}

BOOST_AUTO_TEST_CASE(wide_products_add_a_64_bit_number) {
  OneWave one;
  one.v(1).fill(static_cast<uint32_t>(-3));
  one.v(2).fill(5);
  one.set_v64(4, 100);
  one.run("v_mad_i64_i32 v[6:7], s[0:1], v1, v2, v[4:5]\n v_mov_b64 v[8:9], v[6:7]");
  BOOST_TEST(one.v(8)[7] == 85u);
  BOOST_TEST(one.v(9)[7] == 0u);
  // The mask is the carry out of the unsigned sum.
  one.v(1).fill(0xFFFFFFFF);
  one.v(2).fill(0xFFFFFFFF);
  one.set_v64(4, 0x00000001FFFFFFFF);
  one.run("v_mad_u64_u32 v[6:7], s[0:1], v1, v2, v[4:5]");
  BOOST_TEST(one.s64(0) == ~uint64_t{0});
  BOOST_TEST(one.v(6)[0] == 0u);
  BOOST_TEST(one.v(7)[0] == 0u);
}

BOOST_AUTO_TEST_CASE(bit_fields_and_alignment) {
  check({{"v_bfm_b32 v0, v1, v2", 4, 8, 0, 0xF00},
         {"v_bfi_b32 v0, v1, v2, v3", 0xFF00FF00, 0x12345678, 0x9ABCDEF0, 0x12BC56F0},
         {"v_alignbyte_b32 v0, v1, v2, v3", 0x11223344, 0x55667788, 3, 0x22334455},
         {"v_bfrev_b32 v0, v1", 1, 0, 0, 0x80000000},
         {"v_not_b32 v0, v1", 0xFFFF0000, 0, 0, 0xFFFF},
         // Zero has no highest or lowest bit.
         {"v_ffbh_u32 v0, v1", 0, 0, 0, 0xFFFFFFFF},
         {"v_ffbl_b32 v0, v1", 0, 0, 0, 0xFFFFFFFF}});
}

// Selectors of V_PERM_B32: 0..7 a byte of {first, second}, 8..11 a sign, 12 zero, above 0xFF.
BOOST_AUTO_TEST_CASE(bytes_are_permuted_by_a_selector) {
  check({{"v_perm_b32 v0, v1, v2, v3", 0x80000011, 0x22334455, 0x07040300, 0x80112255},
         {"v_perm_b32 v0, v1, v2, v3", 0x80000011, 0x22334455, 0x0D0C0B08, 0xFF00FF00}});
}

// Within one unit in the last place by the manual; exact here.
BOOST_AUTO_TEST_CASE(powers_logarithms_and_roots_are_exact_at_powers_of_two) {
  check({{"v_exp_f32 v0, v1", word(3), 0, 0, word(8)},
         {"v_exp_f32 v0, v1", word(-1), 0, 0, word(0.5f)},
         {"v_exp_f32 v0, v1", word(-kInfinity), 0, 0, word(0)},
         {"v_exp_f32 v0, v1", word(200), 0, 0, word(kInfinity)},
         {"v_exp_f32 v0, v1", word(-140), 0, 0, word(0)},  // a denormal result is flushed
         {"v_log_f32 v0, v1", word(8), 0, 0, word(3)},
         {"v_log_f32 v0, v1", word(0), 0, 0, word(-kInfinity)},
         {"v_rcp_f32 v0, v1", word(4), 0, 0, word(0.25f)},
         {"v_rcp_f32 v0, v1", word(-0.0f), 0, 0, word(-kInfinity)},
         {"v_rcp_iflag_f32 v0, v1", word(8), 0, 0, word(0.125f)},
         {"v_rsq_f32 v0, v1", word(16), 0, 0, word(0.25f)},
         {"v_sqrt_f32 v0, v1", word(16), 0, 0, word(4)},
         {"v_fract_f32 v0, v1", word(-1.25f), 0, 0, word(0.75f)}});
}

BOOST_AUTO_TEST_CASE(conversions_to_integers_saturate_and_a_nan_is_zero) {
  check({{"v_cvt_u32_f32 v0, v1", word(-1), 0, 0, 0},
         {"v_cvt_u32_f32 v0, v1", word(1e20f), 0, 0, 0xFFFFFFFF},
         {"v_cvt_u32_f32 v0, v1", word(kNan), 0, 0, 0},
         {"v_cvt_i32_f32 v0, v1", word(-1e20f), 0, 0, 0x80000000},
         {"v_cvt_i32_f32 v0, v1", word(1e20f), 0, 0, 0x7FFFFFFF},
         {"v_cvt_i32_f32 v0, v1", word(-2.9f), 0, 0, static_cast<uint32_t>(-2)}});
}

// 1 + 2^-8 is halfway between two bf16 numbers and goes to the even one, 1; 1 + 3 x 2^-8 goes to 1
// + 2^-6.
BOOST_AUTO_TEST_CASE(a_pair_is_rounded_to_bf16_to_nearest_even_first_source_low) {
  check({{"v_cvt_pk_bf16_f32 v0, v1, v2", word(1.00390625f), word(1.01171875f), 0, 0x3F823F80},
         {"v_cvt_pk_bf16_f32 v0, v1, v2", word(-kInfinity), word(3), 0, 0x4040FF80}});
}

// With a = 1 + 2^-12, a^2 = 1 + 2^-11 + 2^-24, whose last bit is lost unless the product stays
// exact.
BOOST_AUTO_TEST_CASE(fused_operations_round_once) {
  constexpr uint32_t kA = word(1 + 0x1p-12f);
  constexpr uint32_t kMinus = word(-1 - 0x1p-11f);
  check({{"v_fma_f32 v0, v1, v2, v3", kA, kA, kMinus, word(0x1p-24f)},
         {"v_fmaak_f32 v0, v1, v2, 0xbf801000", kA, kA, 0, word(0x1p-24f)},
         {"v_fmamk_f32 v0, v1, 0x40000000, v2", word(3), word(4), 0, word(10)},
         {"v_mov_b32 v0, v3\n v_fmac_f32 v0, v1, v2", kA, kA, kMinus, word(0x1p-24f)}});
}

BOOST_AUTO_TEST_CASE(a_maximum_ignores_a_nan_and_orders_zeros) {
  check({{"v_max_f32 v0, v1, v2", word(kNan), word(-3), 0, word(-3)},
         {"v_min_f32 v0, v1, v2", word(5), word(kNan), 0, word(5)},
         {"v_max_f32 v0, v1, v2", word(-0.0f), word(0.0f), 0, word(0.0f)},
         {"v_min_f32 v0, v1, v2", word(0.0f), word(-0.0f), 0, word(-0.0f)}});
}

BOOST_AUTO_TEST_CASE(packed_math_selects_halves_and_signs) {
  OneWave one;
  const float values[] = {2, 3, 10, 100, 1000, 2000};  // v2..v7
  for (int i = 0; i < 6; ++i) one.v(2 + i).fill(word(values[i]));
  one.run(
      "v_pk_mul_f32 v[10:11], v[2:3], v[4:5]\n"
      "v_pk_mul_f32 v[12:13], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[0,1] "
      "neg_hi:[1,0]\n"
      "v_pk_fma_f32 v[14:15], v[2:3], v[4:5], v[6:7]\n"
      "v_pk_add_f32 v[16:17], v[2:3], v[4:5] op_sel_hi:[1,0]\n"
      "v_pk_mov_b32 v[18:19], v[2:3], v[4:5] op_sel:[1,0]\n"
      "v_pk_mul_f32 v[20:21], v[2:3], 4.0 op_sel_hi:[1,0]");
  const float expected[] = {20,
                            300,  // half by half
                            -30,
                            -20,  // high times minus low; minus low times low
                            1020,
                            2300,  //
                            12,
                            13,  // the low half of the second source twice
                            3,
                            10,  // high of the first, low of the second
                            8,
                            12};
  for (int i = 0; i < 12; ++i)
    BOOST_TEST(one.f(10 + i, 1) == expected[i], "v" << 10 + i << " is " << one.f(10 + i, 1));
}

BOOST_AUTO_TEST_CASE(the_upper_half_of_a_packed_constant_is_refused) {
  BOOST_CHECK_THROW(OneWave().run("v_pk_mul_f32 v[0:1], v[2:3], 1.0"), mla::Error);
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_an_error_with_address_and_text) {
  const std::vector<std::string> texts = {"s_nop 0\n v_sin_f32 v0, v1",
                                          "v_add_f32 v0, v1, v2 clamp",
                                          "v_add_f32 v0, v1, v2 mul:2",
                                          "scratch_load_dword v0, off, s0"};
  const auto assembled = assemble(texts);
  const std::string expected[] = {"0x4: v_sin_f32_e32 v0, v1: unknown instruction",
                                  "unsupported modifier 'clamp'",
                                  "unsupported modifier 'mul:2'",
                                  "unknown instruction"};
  for (size_t i = 0; i < texts.size(); ++i) {
    BOOST_CHECK_EXCEPTION(OneWave().run(assembled[i]), mla::Error, [&](const mla::Error& error) {
      return std::string(error.what()).find(expected[i]) != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

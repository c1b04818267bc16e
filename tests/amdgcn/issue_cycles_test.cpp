// SPDX-License-Identifier: MIT
// What the loop budget is counted from: the pipes of an instruction, and which ones compute
// addresses.
#define BOOST_TEST_MODULE amdgcn_issue_cycles
#include "kernels/amdgcn/issue_cycles.h"

#include <boost/test/unit_test.hpp>

#include "kernels/amdgcn/address_slice.h"
#include "kernels/error.h"
#include "kernels/known_devices.h"

using namespace mla;
using namespace mla::amdgcn;

namespace {

Instruction instruction(const std::string& text) {
  return parse_instruction("\t" + text + " // 000000000000: 00000000").value();
}

PipeCycles cycles(const std::string& text, const std::string& target = "gfx950") {
  return issue_cycles(instruction(text), target);
}

// TFLOP/s of a part whose matrix units do nothing but this product of M x N x K.
double peak_tflop_s(
    const std::string& part, const std::string& text, double m, double n, double k) {
  const KnownDevice& device = *find_known_device(part);
  const double simds = 4.0 * device.compute_units;
  return 2 * m * n * k / cycles(text, device.arch).mfma * simds * device.clock_mhz * 1e-6;
}

// The marks of a loop whose lines are these, "A" for part of an address.
std::string marks(const std::vector<std::string>& lines) {
  std::vector<Instruction> instructions;
  for (const std::string& line : lines) instructions.push_back(instruction(line));
  std::string text;
  for (const bool marked : address_arithmetic(instructions, {0, instructions.size()})) {
    text += marked ? 'A' : '.';
  }
  return text;
}

}  // namespace

// AMD's product pages: bf16 dense, 1,307.4 TFLOP/s and 2,516.6 TFLOP/s.
BOOST_AUTO_TEST_CASE(the_rates_of_matrix_products_give_the_published_peaks) {
  const double percent = 0.1;
  BOOST_CHECK_CLOSE(
      peak_tflop_s("MI300X", "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]", 16, 16, 16),
      1307.4,
      percent);
  BOOST_CHECK_CLOSE(
      peak_tflop_s("MI300X", "v_mfma_f32_32x32x8_bf16 v[0:15], v[16:17], v[18:19], 0", 32, 32, 8),
      1307.4,
      percent);
  BOOST_CHECK_CLOSE(
      peak_tflop_s(
          "MI355X", "v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]", 16, 16, 32),
      2516.6,
      percent);
}

BOOST_AUTO_TEST_CASE(a_matrix_product_without_a_known_rate_is_refused) {
  BOOST_CHECK_THROW(cycles("v_mfma_f32_4x4x4_16b_bf16 v[0:3], v[4:5], v[6:7], v[0:3]"), Error);
  BOOST_CHECK_THROW(cycles("v_add_f32_e32 v0, v1, v2", "gfx90a"), Error);
}

// A wave of 64 lanes on a SIMD of 16; a quarter of the rate for functions and products.
BOOST_AUTO_TEST_CASE(vector_arithmetic_takes_four_cycles_and_functions_sixteen) {
  BOOST_CHECK_EQUAL(cycles("v_add_f32_e32 v0, v1, v2").valu, 4);
  BOOST_CHECK_EQUAL(cycles("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]").valu, 4);
  BOOST_CHECK_EQUAL(cycles("v_exp_f32_e32 v0, v1").valu, 16);
  BOOST_CHECK_EQUAL(cycles("v_mul_lo_u32 v0, v1, v2").valu, 16);
  BOOST_CHECK_EQUAL(cycles("v_lshl_add_u64 v[0:1], v[2:3], 1, v[4:5]").valu, 8);
  BOOST_CHECK_EQUAL(cycles("s_add_i32 s0, s1, s2").salu, 4);
}

BOOST_AUTO_TEST_CASE(waits_barriers_and_branches_take_no_pipe) {
  for (const char* text : {"s_waitcnt vmcnt(3)", "s_barrier", "s_nop 4", "s_cbranch_scc1 65520"}) {
    const PipeCycles none = cycles(text);
    BOOST_CHECK_EQUAL(none.mfma + none.valu + none.salu + none.lds + none.vmem, 0);
  }
}

// 64 lanes x 16 bytes over 128 bytes a cycle, or 256 where gfx950's wide reads use all banks.
BOOST_AUTO_TEST_CASE(lds_takes_the_bytes_of_a_wave_over_the_banks) {
  BOOST_CHECK_EQUAL(cycles("ds_read_b128 v[0:3], v4", "gfx942").lds, 8);
  BOOST_CHECK_EQUAL(cycles("ds_read_b128 v[0:3], v4", "gfx950").lds, 4);
  BOOST_CHECK_EQUAL(cycles("ds_read_b64_tr_b16 v[0:1], v4", "gfx950").lds, 2);
  BOOST_CHECK_EQUAL(cycles("ds_write_b128 v4, v[0:3]", "gfx950").lds, 8);
  BOOST_CHECK_EQUAL(cycles("ds_read2_b32 v[0:1], v4 offset0:1", "gfx950").lds, 4);
  BOOST_CHECK_EQUAL(cycles("ds_bpermute_b32 v0, v1, v2").lds, 2);
}

BOOST_AUTO_TEST_CASE(a_load_to_lds_takes_both_its_pipes) {
  const PipeCycles wide = cycles("buffer_load_dwordx4 v1, s[0:3], s4 offen lds");
  BOOST_CHECK_EQUAL(wide.vmem, 16);
  BOOST_CHECK_EQUAL(wide.lds, 8);
  const PipeCycles narrow = cycles("global_load_lds_dword v[0:1], off", "gfx942");
  BOOST_CHECK_EQUAL(narrow.vmem, 4);
  BOOST_CHECK_EQUAL(narrow.lds, 2);
  BOOST_CHECK_EQUAL(cycles("global_load_dwordx4 v[0:3], v[4:5], off").lds, 0);
}

BOOST_AUTO_TEST_CASE(what_reaches_an_address_operand_is_address_arithmetic_and_data_is_not) {
  BOOST_CHECK_EQUAL(marks({"v_add_u32_e32 v1, v2, v3",
                           "v_add_f32_e32 v4, v5, v6",
                           "ds_write_b32 v1, v4",
                           "v_add_u32_e32 v8, v8, v9",
                           "global_store_dword v8, v4, s[0:1]"}),
                    "A..A.");
}

BOOST_AUTO_TEST_CASE(an_address_of_the_next_turn_is_one_too) {
  BOOST_CHECK_EQUAL(marks({"ds_read_b32 v4, v1",
                           "v_mov_b32_e32 v9, 0",
                           "v_add_u32_e32 v1, 16, v2",
                           "v_add_u32_e32 v2, 16, v2"}),
                    "..AA");
}

BOOST_AUTO_TEST_CASE(a_page_number_that_was_loaded_ends_the_chain_at_its_own_address) {
  BOOST_CHECK_EQUAL(marks({"v_lshlrev_b32_e32 v1, 2, v7",
                           "global_load_dword v2, v1, s[0:1]",
                           "s_waitcnt vmcnt(0)",
                           "v_readfirstlane_b32 s4, v2",
                           "s_mul_i32 s4, s4, s5",
                           "buffer_load_dwordx4 v3, s[0:3], s4 offen lds"}),
                    "A..AA.");
}

BOOST_AUTO_TEST_CASE(the_place_in_lds_of_a_copy_and_the_condition_of_a_choice_count) {
  BOOST_CHECK_EQUAL(marks({"s_cmp_lg_u32 s6, 0x100",
                           "s_cselect_b32 s6, s7, 0",
                           "s_mov_b32 m0, s6",
                           "global_load_lds_dword v[0:1], off",
                           "s_cmp_eq_u32 s9, 0"}),
                    "AAA..");
}

BOOST_AUTO_TEST_CASE(a_lane_shuffle_has_no_address) {
  BOOST_CHECK_EQUAL(marks({"v_xor_b32_e32 v1, 64, v2", "ds_bpermute_b32 v3, v1, v4"}), "..");
}

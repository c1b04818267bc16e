// SPDX-License-Identifier: MIT
// Scalar instructions that clang's folding does not reach: SCC, exec, immediates, branches,
// hardware registers (CDNA3 ISA manual, section 12: SOP1, SOP2, SOPK, SOPP).
#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

// s[0:1] and SCC after the text, with s[2:3], s[4:5] and SCC set.
struct Case {
  std::string text;
  uint64_t a, b;
  bool scc;
  uint64_t expected;
  bool expected_scc;
};

void check(const std::vector<Case>& cases) {
  std::vector<std::string> texts;
  for (const Case& c : cases) texts.push_back(c.text);
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < cases.size(); ++i) {
    OneWave one;
    one.wave.set_scalar64(0, 0);
    one.wave.set_scalar64(2, cases[i].a);
    one.wave.set_scalar64(4, cases[i].b);
    one.wave.scc = cases[i].scc;
    one.run(assembled[i]);
    BOOST_TEST(one.s64(0) == cases[i].expected,
               cases[i].text << " gives " << std::hex << one.s64(0));
    BOOST_TEST(one.wave.scc == cases[i].expected_scc,
               cases[i].text << " gives SCC " << one.wave.scc);
  }
}

BOOST_AUTO_TEST_SUITE(scalar)

BOOST_AUTO_TEST_CASE(carries_and_overflows_go_through_scc) {
  check({{"s_add_u32 s0, s2, s4", 0xFFFFFFFF, 2, false, 1, true},
         {"s_addc_u32 s0, s2, s4", 5, 6, true, 12, false},
         {"s_sub_u32 s0, s2, s4", 1, 2, false, 0xFFFFFFFF, true},
         {"s_subb_u32 s0, s2, s4", 0, 0, true, 0xFFFFFFFF, true},
         // Signed: SCC is overflow.
         {"s_add_i32 s0, s2, s4", 0x7FFFFFFF, 1, false, 0x80000000, true},
         {"s_add_i32 s0, s2, s4", 0xFFFFFFFF, 1, true, 0, false},
         {"s_sub_i32 s0, s2, s4", 0x80000000, 1, false, 0x7FFFFFFF, true}});
}

BOOST_AUTO_TEST_CASE(bitwise_results_set_scc_where_they_are_not_zero) {
  check({{"s_and_b32 s0, s2, s4", 0xF0, 0x0F, true, 0, false},
         {"s_or_b32 s0, s2, s4", 0xF0, 0x0F, false, 0xFF, true},
         {"s_lshl_b32 s0, s2, s4", 0x80000000, 1, true, 0, false},
         {"s_bfe_u32 s0, s2, s4", 0xFF00, 0x80008, false, 0xFF, true}});
}

BOOST_AUTO_TEST_CASE(minimum_and_maximum_set_scc_where_the_first_source_is_taken) {
  check({{"s_min_i32 s0, s2, s4", 0xFFFFFFFF, 1, false, 0xFFFFFFFF, true},
         {"s_max_u32 s0, s2, s4", 1, 0xFFFFFFFF, true, 0xFFFFFFFF, false},
         {"s_absdiff_i32 s0, s2, s4", 3, 10, false, 7, true}});
}

BOOST_AUTO_TEST_CASE(immediates_of_16_bits_are_sign_extended) {
  check({{"s_movk_i32 s0, 0x8000", 0, 0, true, 0xFFFF8000, true},
         {"s_movk_i32 s0, 0x64\n s_addk_i32 s0, 0xffff", 0, 0, true, 99, false},
         {"s_movk_i32 s0, 0x64\n s_mulk_i32 s0, 0xfffe",
          0,
          0,
          true,
          static_cast<uint32_t>(-200),
          true},
         {"s_cmovk_i32 s0, 0xffff", 0, 0, true, 0xFFFFFFFF, true},
         {"s_cmovk_i32 s0, 0xffff", 0, 0, false, 0, false}});
}

BOOST_AUTO_TEST_CASE(conditional_moves_and_selects_follow_scc) {
  check(
      {{"s_cselect_b32 s0, s2, s4", 11, 22, true, 11, true},
       {"s_cselect_b32 s0, s2, s4", 11, 22, false, 22, false},
       {"s_cmov_b32 s0, s2", 11, 22, true, 11, true},
       {"s_cmov_b32 s0, s2", 11, 22, false, 0, false},
       {"s_cselect_b64 s[0:1], s[2:3], s[4:5]", 11ull << 32, 22ull << 32, true, 11ull << 32, true},
       {"s_cmov_b64 s[0:1], s[2:3]", 11ull << 32, 0, true, 11ull << 32, true},
       {"s_cmov_b64 s[0:1], s[2:3]", 11ull << 32, 0, false, 0, false}});
}

BOOST_AUTO_TEST_CASE(single_bits_and_masks_are_set_and_tested) {
  check({{"s_bitset1_b32 s0, 33", 0, 0, false, 2, false},  // 5 bits of the number count
         {"s_mov_b32 s0, -1\n s_bitset0_b32 s0, 31", 0, 0, false, 0x7FFFFFFF, false},
         {"s_bfm_b32 s0, s2, s4", 4, 8, false, 0xF00, false},
         {"s_bitcmp1_b32 s2, s4", 8, 3, false, 0, true},
         {"s_bitcmp0_b32 s2, s4", 8, 3, true, 0, false},
         {"s_bitset1_b64 s[0:1], 40", 0, 0, false, uint64_t{1} << 40, false},
         {"s_mov_b64 s[0:1], -1\n s_bitset0_b64 s[0:1], 63", 0, 0, false, ~uint64_t{0} >> 1, false},
         {"s_bfm_b64 s[0:1], 8, 36", 0, 0, false, uint64_t{0xFF} << 36, false},
         {"s_bitcmp1_b64 s[2:3], 40", uint64_t{1} << 40, 0, false, 0, true},
         {"s_bitcmp0_b64 s[2:3], 40", uint64_t{1} << 40, 0, true, 0, false}});
}

BOOST_AUTO_TEST_CASE(halves_of_registers_are_packed) {
  check({{"s_pack_ll_b32_b16 s0, s2, s4", 0x11112222, 0x33334444, false, 0x44442222, false},
         {"s_pack_lh_b32_b16 s0, s2, s4", 0x11112222, 0x33334444, false, 0x33332222, false},
         {"s_pack_hh_b32_b16 s0, s2, s4", 0x11112222, 0x33334444, false, 0x33331111, false}});
}

BOOST_AUTO_TEST_CASE(masks_of_64_lanes_are_combined) {
  constexpr uint64_t kA = 0xFF00FF00FF00FF00;
  constexpr uint64_t kB = 0x0FF00FF00FF00FF0;
  check({{"s_andn2_b64 s[0:1], s[2:3], s[4:5]", kA, kB, false, 0xF000F000F000F000, true},
         {"s_orn2_b64 s[0:1], s[2:3], s[4:5]", kA, kB, false, 0xFF0FFF0FFF0FFF0F, true},
         {"s_nand_b64 s[0:1], s[2:3], s[4:5]", kA, kB, false, 0xF0FFF0FFF0FFF0FF, true},
         {"s_nor_b64 s[0:1], s[2:3], s[4:5]", kA, kB, false, 0x000F000F000F000F, true},
         {"s_xnor_b64 s[0:1], s[2:3], s[4:5]", kA, kB, false, 0x0F0F0F0F0F0F0F0F, true},
         {"s_not_b64 s[0:1], s[2:3]", ~uint64_t{0}, 0, true, 0, false},
         {"s_ff1_i32_b64 s0, s[2:3]", kA, 0, false, 8, false},
         {"s_flbit_i32_b64 s0, s[4:5]", 0, kB, false, 4, false},
         // Width 24 from bit 4.
         {"s_bfe_u64 s[0:1], s[2:3], s4", kA, 0x180004, false, 0xF00FF0, true}});
}

// D is the old exec; SCC says whether the new one has a lane.
BOOST_AUTO_TEST_CASE(saving_exec_combines_it_with_the_source) {
  const auto text = [](const std::string& name) {
    return "s_mov_b64 exec, s[4:5]\n" + name + " s[0:1], s[2:3]\n s_mov_b64 s[0:1], exec";
  };
  check({{text("s_and_saveexec_b64"), 0x3C3C, 0xFF, false, 0x3C, true},
         {text("s_and_saveexec_b64"), 0x3C00, 0xFF, true, 0, false},
         {text("s_or_saveexec_b64"), 0x3C3C, 0xFF, false, 0x3CFF, true},
         {text("s_xor_saveexec_b64"), 0x3C3C, 0xFF, false, 0x3CC3, true},
         {text("s_andn2_saveexec_b64"), 0x3C3C, 0xFF, false, 0x3C00, true},
         {"s_mov_b64 exec, s[4:5]\n s_and_saveexec_b64 s[0:1], s[2:3]",
          0x3C3C,
          0xFF,
          false,
          0xFF,
          true}});
}

BOOST_AUTO_TEST_CASE(branches_test_scc_vcc_and_exec) {
  int label = 0;
  std::vector<Case> cases;
  const auto add = [&](const std::string& branch, const std::string& before, bool taken, bool scc) {
    // A local label: the disassembly prints the distance.
    const std::string target = ".Ltaken" + std::to_string(label++);
    cases.push_back({"s_mov_b32 s0, 1\n" + before + "\n" + branch + " " + target +
                         "\n s_mov_b32 s0, 0\n" + target + ":\n s_nop 0",
                     0,
                     0,
                     scc,
                     taken ? 1u : 0u,
                     scc});
  };
  add("s_branch", "", true, false);
  for (const bool condition : {false, true}) {
    const std::string value = condition ? "1" : "0";
    add("s_cbranch_scc1", "", condition, condition);
    add("s_cbranch_scc0", "", !condition, condition);
    add("s_cbranch_vccnz", "s_mov_b64 vcc, " + value, condition, false);
    add("s_cbranch_vccz", "s_mov_b64 vcc, " + value, !condition, false);
    add("s_cbranch_execnz", "s_mov_b64 exec, " + value, condition, false);
    add("s_cbranch_execz", "s_mov_b64 exec, " + value, !condition, false);
  }
  check(cases);
}

BOOST_AUTO_TEST_CASE(hints_and_cache_maintenance_change_no_register) {
  OneWave one;
  const auto before = one.wave.scalars;
  one.run(
      "s_nop 3\n s_setprio 2\n s_sleep 1\n s_dcache_wb\n s_dcache_inv\n buffer_inv sc1\n "
      "buffer_wbl2 sc1\n"
      "s_waitcnt vmcnt(0)");
  BOOST_TEST((one.wave.scalars == before));
}

BOOST_AUTO_TEST_CASE(the_chiplet_number_is_read_and_other_hardware_registers_are_refused) {
  OneWave one;
  one.wave.xcc_id = 5;
  one.run("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)");
  BOOST_TEST(one.s(0) == 5u);
  BOOST_CHECK_THROW(one.run("s_getreg_b32 s0, hwreg(HW_REG_MODE)"), mla::Error);
}

BOOST_AUTO_TEST_CASE(a_trap_is_an_error_and_a_barrier_stops_the_wave) {
  OneWave one;
  BOOST_CHECK_THROW(one.run("s_trap 2"), mla::Error);
  one.run("s_mov_b32 s0, 1\n s_barrier\n s_mov_b32 s0, 2");
  BOOST_TEST((one.wave.state == Wave::State::kAtBarrier));
  BOOST_TEST(one.s(0) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

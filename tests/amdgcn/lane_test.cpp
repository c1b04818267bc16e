// SPDX-License-Identifier: MIT
// Lanes among each other: DPP, SDWA, single lanes, counting, swaps, and the exec mask. A row is 16
// lanes, a bank four (CDNA3 ISA manual, section 12, DPP and SDWA).
#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

constexpr uint32_t kOld = 7777;

constexpr int kZero = -1;
constexpr int kKept = -2;

// A DPP control and where a lane's value comes from: a lane, kZero or kKept.
struct Move {
  std::string control;
  int (*from)(int lane);
  uint64_t exec = ~uint64_t{0};
};

// v_mov_b32_dpp from v1, which holds lane + 100, to v0, which holds kOld.
void check(const std::vector<Move>& moves) {
  std::vector<std::string> texts;
  for (const Move& move : moves) {
    const bool has_masks = move.control.find("row_mask") != std::string::npos;
    texts.push_back("v_mov_b32_dpp v0, v1 " + move.control +
                    (has_masks ? "" : " row_mask:0xf bank_mask:0xf"));
  }
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < moves.size(); ++i) {
    OneWave one;
    one.fill(1, [](int lane) { return lane + 100; });
    one.v(0).fill(kOld);
    one.set_exec(moves[i].exec);
    one.run(assembled[i]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int from = moves[i].from(lane);
      const uint32_t expected = from == kKept   ? kOld
                                : from == kZero ? 0
                                                : static_cast<uint32_t>(from + 100);
      BOOST_TEST(one.v(0)[static_cast<size_t>(lane)] == expected,
                 moves[i].control << ", lane " << lane);
    }
  }
}

BOOST_AUTO_TEST_SUITE(lanes)

BOOST_AUTO_TEST_CASE(dpp_moves_within_four_lanes_and_within_rows) {
  check({{"quad_perm:[1,0,3,2]", [](int lane) { return lane ^ 1; }},
         {"quad_perm:[2,2,2,2]", [](int lane) { return lane / 4 * 4 + 2; }},
         {"row_mirror", [](int lane) { return lane / 16 * 16 + 15 - lane % 16; }},
         {"row_half_mirror", [](int lane) { return lane / 8 * 8 + 7 - lane % 8; }},
         {"row_ror:3", [](int lane) { return lane / 16 * 16 + (lane % 16 + 13) % 16; }},
         {"row_newbcast:5", [](int lane) { return lane / 16 * 16 + 5; }},
         // The last lane of the row in front; lane 31 to the upper half.
         {"row_bcast:15", [](int lane) { return lane < 16 ? kKept : lane / 16 * 16 - 1; }},
         {"row_bcast:31", [](int lane) { return lane < 32 ? kKept : 31; }}});
}

BOOST_AUTO_TEST_CASE(dpp_keeps_the_old_value_where_no_lane_is_or_gives_zero_with_bound_control) {
  check({{"row_shl:2", [](int lane) { return lane % 16 < 14 ? lane + 2 : kKept; }},
         {"row_shr:3", [](int lane) { return lane % 16 >= 3 ? lane - 3 : kKept; }},
         {"row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
          [](int lane) { return lane % 16 >= 1 ? lane - 1 : kZero; }}});
}

BOOST_AUTO_TEST_CASE(dpp_masks_choose_rows_and_banks) {
  check({{"quad_perm:[0,1,2,3] row_mask:0xa bank_mask:0xf",
          [](int lane) { return lane / 16 % 2 == 1 ? lane : kKept; }},
         {"quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0x3",
          [](int lane) { return lane % 16 < 8 ? lane : kKept; }}});
}

BOOST_AUTO_TEST_CASE(dpp_takes_nothing_from_an_inactive_lane) {
  constexpr uint64_t kEven = 0x5555555555555555;
  check({{"quad_perm:[1,0,3,2]", [](int) { return kKept; }, kEven},
         {"quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0",
          [](int lane) { return lane % 2 == 0 ? kZero : kKept; },
          kEven}});
}

BOOST_AUTO_TEST_CASE(sdwa_takes_and_places_parts_of_registers) {
  OneWave one;
  one.v(1).fill(0x8899AABB);
  one.v(2).fill(0x00000100);
  one.v(3).fill(0x11223344);
  one.run(
      "v_add_u32_sdwa v3, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 "
      "src1_sel:DWORD");
  BOOST_TEST(one.v(3)[9] == 0x01883344u);
  one.run(
      "v_add_u32_sdwa v3, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 "
      "src1_sel:WORD_1");
  BOOST_TEST(one.v(3)[9] == 0x0000BB00u);
  one.run(
      "v_add_u32_sdwa v3, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
      "src1_sel:DWORD");
  BOOST_TEST(one.v(3)[9] == 0xFFFF8999u);
}

BOOST_AUTO_TEST_CASE(inactive_lanes_keep_their_values) {
  OneWave one;
  one.v(0).fill(kOld);
  one.set_exec(0xF0);
  one.run("v_mov_b32 v0, 5");
  for (int lane = 0; lane < kLanes; ++lane) {
    BOOST_TEST(one.v(0)[static_cast<size_t>(lane)] == (lane >= 4 && lane < 8 ? 5u : kOld));
  }
}

BOOST_AUTO_TEST_CASE(single_lanes_are_read_and_written_whether_active_or_not) {
  OneWave one;
  one.fill(1, [](int lane) { return 1000 + lane; });
  one.set_exec(0xFF00);
  one.s(4) = 63;
  one.run(
      "v_readfirstlane_b32 s0, v1\n v_readlane_b32 s1, v1, 2\n v_readlane_b32 s2, v1, s4\n "
      "v_writelane_b32 v1, s0, 3");
  BOOST_TEST(one.s(0) == 1008u);
  BOOST_TEST(one.s(1) == 1002u);
  BOOST_TEST(one.s(2) == 1063u);
  BOOST_TEST(one.v(1)[3] == 1008u);
  BOOST_TEST(one.v(1)[2] == 1002u);
}

BOOST_AUTO_TEST_CASE(the_first_lane_is_lane_0_where_none_is_active) {
  OneWave one;
  one.fill(1, [](int lane) { return 1000 + lane; });
  one.set_exec(0);
  one.run("v_readfirstlane_b32 s0, v1");
  BOOST_TEST(one.s(0) == 1000u);
}

BOOST_AUTO_TEST_CASE(mask_bits_below_a_lane_are_counted_in_two_steps) {
  OneWave one;
  one.run("v_mbcnt_lo_u32_b32 v0, -1, 0\n v_mbcnt_hi_u32_b32 v0, -1, v0");
  for (int lane = 0; lane < kLanes; ++lane)
    BOOST_TEST(one.v(0)[static_cast<size_t>(lane)] == static_cast<uint32_t>(lane));
}

BOOST_AUTO_TEST_CASE(rows_are_swapped_between_registers) {
  OneWave one;
  one.fill(1, [](int lane) { return lane; });
  one.fill(2, [](int lane) { return 100 + lane; });
  one.run("v_permlane32_swap_b32 v1, v2");
  // Rows 2 and 3 of the first with rows 0 and 1 of the second.
  BOOST_TEST(one.v(1)[5] == 5u);
  BOOST_TEST(one.v(1)[37] == 105u);
  BOOST_TEST(one.v(2)[5] == 37u);
  BOOST_TEST(one.v(2)[37] == 137u);
  one.fill(1, [](int lane) { return lane; });
  one.fill(2, [](int lane) { return 100 + lane; });
  one.run("v_permlane16_swap_b32 v1, v2");
  // Odd rows of the first with even rows of the second.
  BOOST_TEST(one.v(1)[17] == 101u);
  BOOST_TEST(one.v(1)[50] == 134u);
  BOOST_TEST(one.v(2)[1] == 17u);
  BOOST_TEST(one.v(2)[34] == 50u);
  BOOST_TEST(one.v(2)[20] == 120u);
}

BOOST_AUTO_TEST_CASE(a_row_swap_with_inactive_lanes_is_refused) {
  OneWave one;
  one.set_exec(1);
  BOOST_CHECK_THROW(one.run("v_permlane32_swap_b32 v1, v2"), mla::Error);
}

BOOST_AUTO_TEST_CASE(accumulation_registers_are_their_own_file) {
  OneWave one;
  one.v(3).fill(33);
  one.run(
      "v_accvgpr_write_b32 a3, 44\n v_accvgpr_read_b32 v4, a3\n v_accvgpr_mov_b32 a5, a3\n "
      "v_swap_b32 v3, v4");
  BOOST_TEST(one.a(3)[1] == 44u);
  BOOST_TEST(one.a(5)[1] == 44u);
  BOOST_TEST(one.v(3)[1] == 44u);
  BOOST_TEST(one.v(4)[1] == 33u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

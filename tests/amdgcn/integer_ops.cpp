// SPDX-License-Identifier: MIT
// Integer and bit instructions of vector registers (CDNA3 ISA manual, section 12: VOP1, VOP2,
// VOP3A).
#include <algorithm>
#include <bit>

#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr u32 low24(u32 value) {
  return value & 0xFFFFFF;
}
constexpr i32 signed24(u32 value) {
  return static_cast<i32>(value << 8) >> 8;
}

constexpr u32 reversed_bits(u32 value) {
  u32 reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (value >> bit & 1) << (31 - bit);
  return reversed;
}

// V_PERM_B32: a selector byte 0..7 picks a byte of {first, second}, second being bytes 0..3; 8..11
// the sign of the 16-bit word 1, 3, 5 or 7 of that row; 12 zero; above, 0xFF.
u32 permuted_bytes(u32 first, u32 second, u32 selector) {
  const u64 bytes = u64{first} << 32 | second;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 select = selector >> (8 * i) & 0xFF;
    u32 byte = 0xFF;
    if (select < 8) {
      byte = static_cast<u32>(bytes >> (8 * select) & 0xFF);
    } else if (select < 12) {
      byte = (bytes >> (16 * (select - 8) + 15) & 1) != 0 ? 0xFF : 0;
    } else if (select == 12) {
      byte = 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

void add_arithmetic(OpTable* table) {
  const OpTable ops = {
      {"v_add_u32", lanes([](u32 a, u32 b) { return a + b; })},
      {"v_sub_u32", lanes([](u32 a, u32 b) { return a - b; })},
      {"v_subrev_u32", lanes([](u32 a, u32 b) { return b - a; })},
      {"v_add3_u32", lanes([](u32 a, u32 b, u32 c) { return a + b + c; })},
      {"v_mul_lo_u32", lanes([](u32 a, u32 b) { return a * b; })},
      {"v_mul_hi_u32", lanes([](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); })},
      {"v_mul_hi_i32", lanes([](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); })},
      {"v_mul_u32_u24", lanes([](u32 a, u32 b) { return low24(a) * low24(b); })},
      {"v_mul_hi_u32_u24",
       lanes([](u32 a, u32 b) { return static_cast<u32>(u64{low24(a)} * low24(b) >> 32); })},
      {"v_mul_i32_i24",
       lanes([](u32 a, u32 b) { return static_cast<u32>(i64{signed24(a)} * signed24(b)); })},
      {"v_mad_u32_u24", lanes([](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; })},
      {"v_mad_i32_i24", lanes([](u32 a, u32 b, u32 c) {
         return static_cast<u32>(i64{signed24(a)} * signed24(b)) + c;
       })},
      {"v_mad_u64_u32", lanes([](u32 a, u32 b, u64 c) {
         const u64 product = u64{a} * b;
         return WithMask<u64>{product + c, product + c < product};
       })},
      {"v_mad_i64_i32", lanes([](i32 a, i32 b, u64 c) {
         return WithMask<u64>{static_cast<u64>(i64{a} * b) + c, false};
       })},
      {"v_min_u32", lanes([](u32 a, u32 b) { return std::min(a, b); })},
      {"v_max_u32", lanes([](u32 a, u32 b) { return std::max(a, b); })},
      {"v_min_i32", lanes([](i32 a, i32 b) { return std::min(a, b); })},
      {"v_max_i32", lanes([](i32 a, i32 b) { return std::max(a, b); })},
      {"v_min3_u32", lanes([](u32 a, u32 b, u32 c) {
         return std::min({a, b, c});
       })},
      {"v_max3_u32", lanes([](u32 a, u32 b, u32 c) {
         return std::max({a, b, c});
       })},
      {"v_min3_i32", lanes([](i32 a, i32 b, i32 c) {
         return std::min({a, b, c});
       })},
      {"v_max3_i32", lanes([](i32 a, i32 b, i32 c) {
         return std::max({a, b, c});
       })},
      {"v_med3_u32", lanes([](u32 a, u32 b, u32 c) {
         return std::max(std::min(a, b), std::min(std::max(a, b), c));
       })},
      {"v_med3_i32", lanes([](i32 a, i32 b, i32 c) {
         return std::max(std::min(a, b), std::min(std::max(a, b), c));
       })},
      // 16-bit results clear the upper half of the register on this generation.
      {"v_add_u16", lanes([](u32 a, u32 b) { return (a + b) & 0xFFFF; })},
      {"v_sub_u16", lanes([](u32 a, u32 b) { return (a - b) & 0xFFFF; })},
      {"v_subrev_u16", lanes([](u32 a, u32 b) { return (b - a) & 0xFFFF; })},
      {"v_mul_lo_u16", lanes([](u32 a, u32 b) { return a * b & 0xFFFF; })},
      {"v_mad_u32_u16", lanes([](u32 a, u32 b, u32 c) { return (a & 0xFFFF) * (b & 0xFFFF) + c; })},
      {"v_min_u16", lanes([](u32 a, u32 b) { return std::min(a & 0xFFFF, b & 0xFFFF); })},
      {"v_max_u16", lanes([](u32 a, u32 b) { return std::max(a & 0xFFFF, b & 0xFFFF); })},
  };
  table->insert(ops.begin(), ops.end());
}

void add_carries(OpTable* table) {
  const OpTable ops = {
      {"v_add_co_u32", lanes([](u32 a, u32 b) {
         return WithMask<u32>{a + b, a + b < a};
       })},
      {"v_sub_co_u32", lanes([](u32 a, u32 b) {
         return WithMask<u32>{a - b, b > a};
       })},
      {"v_subrev_co_u32", lanes([](u32 a, u32 b) {
         return WithMask<u32>{b - a, a > b};
       })},
      {"v_addc_co_u32", lanes([](u32 a, u32 b, bool carry) {
         const u64 sum = u64{a} + b + (carry ? 1 : 0);
         return WithMask<u32>{static_cast<u32>(sum), sum >> 32 != 0};
       })},
      {"v_subb_co_u32", lanes([](u32 a, u32 b, bool borrow) {
         const u64 taken = u64{b} + (borrow ? 1 : 0);
         return WithMask<u32>{static_cast<u32>(a - taken), taken > a};
       })},
      {"v_subbrev_co_u32", lanes([](u32 a, u32 b, bool borrow) {
         const u64 taken = u64{a} + (borrow ? 1 : 0);
         return WithMask<u32>{static_cast<u32>(b - taken), taken > b};
       })},
      {"v_cndmask_b32", lanes([](float a, float b, bool second) { return second ? b : a; })},
  };
  table->insert(ops.begin(), ops.end());
}

void add_bits(OpTable* table) {
  const OpTable ops = {
      {"v_mov_b32", lanes([](u32 a) { return a; })},
      {"v_accvgpr_read_b32", lanes([](u32 a) { return a; })},
      {"v_accvgpr_write_b32", lanes([](u32 a) { return a; })},
      {"v_accvgpr_mov_b32", lanes([](u32 a) { return a; })},
      {"v_mov_b64", lanes([](u64 a) { return a; })},
      {"v_not_b32", lanes([](u32 a) { return ~a; })},
      {"v_bfrev_b32", lanes([](u32 a) { return reversed_bits(a); })},
      {"v_ffbh_u32",
       lanes([](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); })},
      {"v_ffbl_b32",
       lanes([](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countr_zero(a)); })},
      {"v_bcnt_u32_b32",
       lanes([](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; })},
      {"v_and_b32", lanes([](u32 a, u32 b) { return a & b; })},
      {"v_or_b32", lanes([](u32 a, u32 b) { return a | b; })},
      {"v_xor_b32", lanes([](u32 a, u32 b) { return a ^ b; })},
      {"v_xnor_b32", lanes([](u32 a, u32 b) { return ~(a ^ b); })},
      {"v_or3_b32", lanes([](u32 a, u32 b, u32 c) { return a | b | c; })},
      {"v_and_or_b32", lanes([](u32 a, u32 b, u32 c) { return (a & b) | c; })},
      {"v_bfi_b32", lanes([](u32 mask, u32 a, u32 b) { return (mask & a) | (~mask & b); })},
      {"v_bfm_b32",
       lanes([](u32 width, u32 offset) { return ((1u << (width & 31)) - 1) << (offset & 31); })},
      {"v_bfe_u32", lanes([](u32 a, u32 offset, u32 width) {
         return a >> (offset & 31) & ((1u << (width & 31)) - 1);
       })},
      {"v_bfe_i32", lanes([](u32 a, u32 offset, u32 width) {
         const u32 bits = width & 31;
         const u32 field = a >> (offset & 31) & ((1u << bits) - 1);
         return bits == 0 ? 0u
                          : static_cast<u32>(static_cast<i32>(field << (32 - bits)) >> (32 - bits));
       })},
      {"v_perm_b32",
       lanes([](u32 a, u32 b, u32 selector) { return permuted_bytes(a, b, selector); })},
      {"v_alignbit_b32", lanes([](u32 a, u32 b, u32 shift) {
         return static_cast<u32>((u64{a} << 32 | b) >> (shift & 31));
       })},
      {"v_alignbyte_b32", lanes([](u32 a, u32 b, u32 shift) {
         return static_cast<u32>((u64{a} << 32 | b) >> (8 * (shift & 3)));
       })},
      {"v_lshlrev_b32", lanes([](u32 shift, u32 a) { return a << (shift & 31); })},
      {"v_lshrrev_b32", lanes([](u32 shift, u32 a) { return a >> (shift & 31); })},
      {"v_ashrrev_i32", lanes([](u32 shift, i32 a) { return a >> (shift & 31); })},
      {"v_lshlrev_b64", lanes([](u32 shift, u64 a) { return a << (shift & 63); })},
      {"v_lshrrev_b64", lanes([](u32 shift, u64 a) { return a >> (shift & 63); })},
      {"v_ashrrev_i64", lanes([](u32 shift, i64 a) { return a >> (shift & 63); })},
      {"v_lshlrev_b16", lanes([](u32 shift, u32 a) { return a << (shift & 15) & 0xFFFF; })},
      {"v_lshrrev_b16", lanes([](u32 shift, u32 a) { return (a & 0xFFFF) >> (shift & 15); })},
      {"v_lshl_add_u32", lanes([](u32 a, u32 shift, u32 b) { return (a << (shift & 31)) + b; })},
      {"v_add_lshl_u32", lanes([](u32 a, u32 b, u32 shift) { return (a + b) << (shift & 31); })},
      {"v_lshl_or_b32", lanes([](u32 a, u32 shift, u32 b) { return a << (shift & 31) | b; })},
      {"v_xad_u32", lanes([](u32 a, u32 b, u32 c) { return (a ^ b) + c; })},
      // The shift is limited to 0..4 by the hardware.
      {"v_lshl_add_u64", lanes([](u64 a, u32 shift, u64 b) { return (a << (shift & 7)) + b; })},
  };
  table->insert(ops.begin(), ops.end());
}

// V_BITOP3 (gfx950): bit 4 a + 2 b + c of the truth table, for each bit of the sources.
template <u32 kMask>
void bitwise_by_table(Wave& wave, const Op& op) {
  const LaneValues<u32> a(wave, op, 1);
  const LaneValues<u32> b(wave, op, 2);
  const LaneValues<u32> c(wave, op, 3);
  LaneResult<u32> result;
  for (int lane = 0; lane < kLanes; ++lane) {
    u32 bits = 0;
    for (int row = 0; row < 8; ++row) {
      if ((op.truth_table >> row & 1) == 0) continue;
      bits |= ((row & 4) != 0 ? a[lane] : ~a[lane]) & ((row & 2) != 0 ? b[lane] : ~b[lane]) &
              ((row & 1) != 0 ? c[lane] : ~c[lane]);
    }
    result.set(lane, bits & kMask);
  }
  result.write(wave, op);
}

}  // namespace

void add_integer_ops(OpTable* table) {
  (*table)["v_bitop3_b32"] = {bitwise_by_table<0xFFFFFFFF>, Family::kVector, {}};
  (*table)["v_bitop3_b16"] = {bitwise_by_table<0xFFFF>, Family::kVector, {}};
  add_arithmetic(table);
  add_carries(table);
  add_bits(table);
}

}  // namespace mla::amdgcn

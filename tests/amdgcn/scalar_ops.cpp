// SPDX-License-Identifier: MIT
// Scalar arithmetic: SOP1, SOP2, SOPK of the CDNA3 ISA manual, section 12.
#include <bit>
#include <string>

#include "tests/amdgcn/scalars.h"

namespace mla::amdgcn {
namespace {

template <class T>
T nonzero(bool& scc, T value) {
  scc = value != 0;
  return value;
}

bool add_overflows(int32_t a, int32_t b) {
  int32_t sum;
  return __builtin_add_overflow(a, b, &sum);
}

int32_t wrapped_add(bool& scc, int32_t a, int32_t b) {
  scc = add_overflows(a, b);
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// S_BFE: offset in bits 4:0 of the second source (5:0 for 64 bits), width in bits 22:16.
uint64_t bit_field(uint64_t value, uint32_t control, uint32_t offset_mask) {
  const uint32_t width = control >> 16 & 0x7F;
  const uint64_t shifted = value >> (control & offset_mask);
  return width >= 64 ? shifted : shifted & ((uint64_t{1} << width) - 1);
}

int32_t extended16(uint32_t immediate) {
  return extended(static_cast<int32_t>(immediate));
}

// The bitwise instructions, for 32 and 64 bits.
template <class T>
void add_bitwise(OpTable* table, const std::string& bits) {
  const OpTable ops = {
      {"s_and_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(a & b)); })},
      {"s_or_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(a | b)); })},
      {"s_xor_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(a ^ b)); })},
      {"s_andn2_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(a & ~b)); })},
      {"s_orn2_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(a | ~b)); })},
      {"s_nand_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(~(a & b))); })},
      {"s_nor_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(~(a | b))); })},
      {"s_xnor_b", scalar([](bool& scc, T a, T b) { return nonzero(scc, T(~(a ^ b))); })},
      {"s_not_b", scalar([](bool& scc, T a) { return nonzero(scc, T(~a)); })},
      {"s_mov_b", scalar([](bool&, T a) { return a; })},
      {"s_cmov_b", scalar_in_place([](bool& scc, T old, T a) { return scc ? a : old; })},
      {"s_cselect_b", scalar([](bool& scc, T a, T b) { return scc ? a : b; })},
      {"s_lshl_b", scalar([](bool& scc, T a, uint32_t b) {
         return nonzero(scc, T(a << (b & (sizeof(T) * 8 - 1))));
       })},
      {"s_lshr_b", scalar([](bool& scc, T a, uint32_t b) {
         return nonzero(scc, T(a >> (b & (sizeof(T) * 8 - 1))));
       })},
      {"s_bfm_b", scalar([](bool&, uint32_t width, uint32_t offset) {
         constexpr uint32_t kMask = sizeof(T) * 8 - 1;
         return T(((T{1} << (width & kMask)) - 1) << (offset & kMask));
       })},
  };
  for (const auto& [name, info] : ops) (*table)[name + bits] = info;
  (*table)["s_bcnt1_i32_b" + bits] =
      scalar([](bool& scc, T a) { return nonzero(scc, static_cast<uint32_t>(std::popcount(a))); });
  (*table)["s_ff1_i32_b" + bits] =
      scalar([](bool&, T a) { return a == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(a)); });
  (*table)["s_flbit_i32_b" + bits] =
      scalar([](bool&, T a) { return a == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(a)); });
  (*table)["s_bitset0_b" + bits] = scalar_in_place(
      [](bool&, T old, uint32_t bit) { return T(old & ~(T{1} << (bit & (sizeof(T) * 8 - 1)))); });
  (*table)["s_bitset1_b" + bits] = scalar_in_place(
      [](bool&, T old, uint32_t bit) { return T(old | T{1} << (bit & (sizeof(T) * 8 - 1))); });
  (*table)["s_bitcmp0_b" + bits] = scalar(
      [](bool& scc, T a, uint32_t bit) { scc = (a >> (bit & (sizeof(T) * 8 - 1)) & 1) == 0; });
  (*table)["s_bitcmp1_b" + bits] = scalar(
      [](bool& scc, T a, uint32_t bit) { scc = (a >> (bit & (sizeof(T) * 8 - 1)) & 1) != 0; });
}

template <int kShift>
OpInfo shift_add() {
  return scalar([](bool& scc, uint32_t a, uint32_t b) {
    const uint64_t sum = (uint64_t{a} << kShift) + b;
    scc = sum >> 32 != 0;
    return static_cast<uint32_t>(sum);
  });
}

void add_arithmetic(OpTable* table) {
  const OpTable ops = {
      {"s_add_u32", scalar([](bool& scc, uint32_t a, uint32_t b) {
         const uint64_t sum = uint64_t{a} + b;
         scc = sum >> 32 != 0;
         return static_cast<uint32_t>(sum);
       })},
      {"s_addc_u32", scalar([](bool& scc, uint32_t a, uint32_t b) {
         const uint64_t sum = uint64_t{a} + b + (scc ? 1 : 0);
         scc = sum >> 32 != 0;
         return static_cast<uint32_t>(sum);
       })},
      {"s_sub_u32", scalar([](bool& scc, uint32_t a, uint32_t b) {
         scc = b > a;
         return a - b;
       })},
      {"s_subb_u32", scalar([](bool& scc, uint32_t a, uint32_t b) {
         const uint64_t taken = uint64_t{b} + (scc ? 1 : 0);
         scc = taken > a;
         return static_cast<uint32_t>(a - taken);
       })},
      {"s_add_i32", scalar([](bool& scc, int32_t a, int32_t b) { return wrapped_add(scc, a, b); })},
      {"s_sub_i32", scalar([](bool& scc, int32_t a, int32_t b) {
         int32_t difference;
         scc = __builtin_sub_overflow(a, b, &difference);
         return difference;
       })},
      {"s_mul_i32", scalar([](bool&, uint32_t a, uint32_t b) { return a * b; })},
      {"s_mul_hi_u32", scalar([](bool&, uint32_t a, uint32_t b) {
         return static_cast<uint32_t>(uint64_t{a} * b >> 32);
       })},
      {"s_mul_hi_i32", scalar([](bool&, int32_t a, int32_t b) {
         return static_cast<int32_t>(int64_t{a} * b >> 32);
       })},
      {"s_min_i32", scalar([](bool& scc, int32_t a, int32_t b) { return (scc = a < b) ? a : b; })},
      {"s_min_u32",
       scalar([](bool& scc, uint32_t a, uint32_t b) { return (scc = a < b) ? a : b; })},
      {"s_max_i32", scalar([](bool& scc, int32_t a, int32_t b) { return (scc = a > b) ? a : b; })},
      {"s_max_u32",
       scalar([](bool& scc, uint32_t a, uint32_t b) { return (scc = a > b) ? a : b; })},
      {"s_abs_i32", scalar([](bool& scc, int32_t a) {
         return nonzero(scc, a < 0 ? 0u - static_cast<uint32_t>(a) : static_cast<uint32_t>(a));
       })},
      {"s_absdiff_i32", scalar([](bool& scc, int32_t a, int32_t b) {
         const uint32_t difference = static_cast<uint32_t>(a) - static_cast<uint32_t>(b);
         return nonzero(scc, static_cast<int32_t>(difference) < 0 ? 0u - difference : difference);
       })},
      {"s_ashr_i32",
       scalar([](bool& scc, int32_t a, uint32_t b) { return nonzero(scc, a >> (b & 31)); })},
      {"s_ashr_i64",
       scalar([](bool& scc, int64_t a, uint32_t b) { return nonzero(scc, a >> (b & 63)); })},
      {"s_bfe_u32", scalar([](bool& scc, uint32_t a, uint32_t b) {
         return nonzero(scc, static_cast<uint32_t>(bit_field(a, b, 0x1F)));
       })},
      {"s_bfe_u64", scalar([](bool& scc, uint64_t a, uint32_t b) {
         return nonzero(scc, bit_field(a, b, 0x3F));
       })},
      {"s_bfe_i32", scalar([](bool& scc, int32_t a, uint32_t b) {
         const uint32_t width = b >> 16 & 0x7F;
         const int32_t shifted = a >> (b & 0x1F);
         if (width == 0) return nonzero(scc, 0);
         if (width >= 32) return nonzero(scc, shifted);
         return nonzero(
             scc,
             static_cast<int32_t>(static_cast<uint32_t>(shifted) << (32 - width)) >> (32 - width));
       })},
      {"s_sext_i32_i8", scalar([](bool&, uint32_t a) { return int32_t{static_cast<int8_t>(a)}; })},
      {"s_sext_i32_i16", scalar([](bool&, uint32_t a) { return extended16(a); })},
      {"s_brev_b32", scalar([](bool&, uint32_t a) {
         uint32_t reversed = 0;
         for (int bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1) << (31 - bit);
         return reversed;
       })},
      {"s_movk_i32", scalar([](bool&, uint32_t a) { return extended16(a); })},
      {"s_addk_i32", scalar_in_place([](bool& scc, int32_t old, uint32_t a) {
         return wrapped_add(scc, old, extended16(a));
       })},
      {"s_mulk_i32", scalar_in_place([](bool&, uint32_t old, uint32_t a) {
         return old * static_cast<uint32_t>(extended16(a));
       })},
      {"s_cmovk_i32", scalar_in_place([](bool& scc, uint32_t old, uint32_t a) {
         return scc ? static_cast<uint32_t>(extended16(a)) : old;
       })},
      {"s_pack_ll_b32_b16",
       scalar([](bool&, uint32_t a, uint32_t b) { return (a & 0xFFFF) | b << 16; })},
      {"s_pack_lh_b32_b16",
       scalar([](bool&, uint32_t a, uint32_t b) { return (a & 0xFFFF) | (b & 0xFFFF0000); })},
      {"s_pack_hh_b32_b16",
       scalar([](bool&, uint32_t a, uint32_t b) { return a >> 16 | (b & 0xFFFF0000); })},
  };
  table->insert(ops.begin(), ops.end());
  (*table)["s_lshl1_add_u32"] = shift_add<1>();
  (*table)["s_lshl2_add_u32"] = shift_add<2>();
  (*table)["s_lshl3_add_u32"] = shift_add<3>();
  (*table)["s_lshl4_add_u32"] = shift_add<4>();
}

}  // namespace

void add_scalar_ops(OpTable* table) {
  add_bitwise<uint32_t>(table, "32");
  add_bitwise<uint64_t>(table, "64");
  add_arithmetic(table);
}

}  // namespace mla::amdgcn

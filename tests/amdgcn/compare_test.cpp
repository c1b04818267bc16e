// SPDX-License-Identifier: MIT
// Every comparison of lanes and of scalars (CDNA3 ISA manual, section 12: VOPC, SOPC, SOPK). The
// expected answers are the names of the relations, by hand for each order of the operands.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "tests/amdgcn/one_wave.h"

namespace {

using namespace mla::amdgcn;

BOOST_AUTO_TEST_SUITE(compare)

// What a relation says of a less than, equal to, greater than, unordered with b.
struct Relation {
  std::string name;
  bool less, equal, greater, unordered;
};
const std::vector<Relation> kIntegerRelations = {{"lt", true, false, false, false},
                                                 {"eq", false, true, false, false},
                                                 {"le", true, true, false, false},
                                                 {"gt", false, false, true, false},
                                                 {"ne", true, false, true, false},
                                                 {"ge", false, true, true, false}};
const std::vector<Relation> kFloatRelations = {{"lt", true, false, false, false},
                                               {"eq", false, true, false, false},
                                               {"le", true, true, false, false},
                                               {"gt", false, false, true, false},
                                               {"lg", true, false, true, false},
                                               {"ge", false, true, true, false},
                                               {"o", true, true, true, false},
                                               {"u", false, false, false, true},
                                               {"nge", true, false, false, true},
                                               {"nlg", false, true, false, true},
                                               {"ngt", true, true, false, true},
                                               {"nle", false, false, true, true},
                                               {"neq", true, false, true, true},
                                               {"nlt", false, true, true, true}};

// v[2:3] and v[4:5] of lanes 0, 1, 2 and 3 hold pairs that are less, equal, greater and unordered;
// of integers the last is active but equal.
void check(const std::vector<Relation>& relations,
           const std::string& type,
           const std::string& a,
           const std::string& b,
           const uint64_t (&left)[4],
           const uint64_t (&right)[4]) {
  std::vector<std::string> texts;
  for (const Relation& relation : relations) {
    const std::string rest = relation.name + "_" + type + " ";
    texts.push_back("v_cmp_" + rest + "s[0:1], " + a + ", " + b + "\n v_cmpx_" + rest + "s[2:3], " +
                    a + ", " + b);
  }
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < relations.size(); ++i) {
    const Relation& relation = relations[i];
    OneWave one;
    for (size_t lane = 0; lane < 4; ++lane) {
      one.v(2)[lane] = static_cast<uint32_t>(left[lane]);
      one.v(3)[lane] = static_cast<uint32_t>(left[lane] >> 32);
      one.v(4)[lane] = static_cast<uint32_t>(right[lane]);
      one.v(5)[lane] = static_cast<uint32_t>(right[lane] >> 32);
    }
    one.set_exec(0xF);
    one.run(assembled[i]);
    const bool is_float = type == "f32";
    const uint64_t expected = (relation.less ? 1u : 0u) | (relation.equal ? 2u : 0u) |
                              (relation.greater ? 4u : 0u) |
                              ((is_float ? relation.unordered : relation.equal) ? 8u : 0u);
    BOOST_TEST(one.s64(0) == expected, texts[i] << " gives " << one.s64(0));
    BOOST_TEST(one.s64(2) == expected);
    BOOST_TEST(one.wave.exec() == expected);
  }
}

BOOST_AUTO_TEST_CASE(integer_comparisons_write_active_lanes_and_cmpx_narrows_exec) {
  constexpr uint64_t kMinusOne = ~uint64_t{0};
  check(kIntegerRelations, "u32", "v2", "v4", {5, 7, kMinusOne, 0}, {kMinusOne, 7, 5, 0});
  check(kIntegerRelations, "i32", "v2", "v4", {kMinusOne, 7, 5, 0}, {5, 7, kMinusOne, 0});
  check(kIntegerRelations,
        "u64",
        "v[2:3]",
        "v[4:5]",
        {uint64_t{1} << 33, 7, kMinusOne, 0},
        {uint64_t{2} << 33, 7, 5, 0});
  check(kIntegerRelations,
        "i64",
        "v[2:3]",
        "v[4:5]",
        {kMinusOne, 7, uint64_t{1} << 33, 0},
        {5, 7, kMinusOne, 0});
  // The upper halves do not count.
  check(kIntegerRelations,
        "u16",
        "v2",
        "v4",
        {0x90005, 0x90007, 0xFFFF, 0},
        {0x10006, 0x10007, 5, 0x10000});
}

BOOST_AUTO_TEST_CASE(float_comparisons_say_what_a_nan_is) {
  const auto bits = [](float value) { return uint64_t{std::bit_cast<uint32_t>(value)}; };
  check(kFloatRelations,
        "f32",
        "v2",
        "v4",
        {bits(-1), bits(0.0f), bits(2), bits(std::numeric_limits<float>::quiet_NaN())},
        {bits(2), bits(-0.0f), bits(1), bits(1)});
}

BOOST_AUTO_TEST_CASE(scalar_comparisons_are_signed_or_unsigned_by_name) {
  struct Pair {
    uint32_t a, b;
    int as_unsigned, as_signed;  // below zero: less; above: greater
  };
  constexpr Pair kPairs[] = {
      {5, 4, 1, 1}, {5, 5, 0, 0}, {5, 6, -1, -1}, {5, 0xFFFFFFFF, -1, 1}, {0xFFFFFFFF, 5, 1, -1}};
  const std::vector<std::string> names = {"lt", "eq", "le", "gt", "lg", "ge"};
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    texts.push_back("s_cmp_" + name + "_u32 s1, s2\n s_cselect_b32 s4, 1, 0\n s_cmp_" + name +
                    "_i32 s1, s2\n s_cselect_b32 s5, 1, 0");
  }
  const auto assembled = assemble(texts);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto holds = [&](int order) -> uint32_t {
      const Relation& relation = kIntegerRelations[i];
      return (order < 0 ? relation.less : order == 0 ? relation.equal : relation.greater) ? 1 : 0;
    };
    for (const Pair& pair : kPairs) {
      OneWave one;
      one.s(1) = pair.a;
      one.s(2) = pair.b;
      one.run(assembled[i]);
      BOOST_TEST(one.s(4) == holds(pair.as_unsigned),
                 names[i] << "_u32 " << pair.a << ", " << pair.b);
      BOOST_TEST(one.s(5) == holds(pair.as_signed),
                 names[i] << "_i32 " << pair.a << ", " << pair.b);
    }
  }
}

// The unsigned form zero-extends, the signed form sign-extends its 16 bits.
BOOST_AUTO_TEST_CASE(scalar_comparisons_with_an_immediate_extend_it) {
  const std::vector<std::string> names = {"lt", "eq", "le", "gt", "lg", "ge"};
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += "s_cmpk_" + names[i] + "_u32 s60, 0xfff0\n s_cselect_b32 s" + std::to_string(i) +
            ", 1, 0\n s_cmpk_" + names[i] + "_i32 s61, 0xfff0\n s_cselect_b32 s" +
            std::to_string(10 + i) + ", 1, 0\n";
  }
  OneWave one;
  one.s(60) = 0xFFF0;  // equal to the immediate
  one.s(61) = 5;       // greater than -16
  one.run(text);
  for (size_t i = 0; i < names.size(); ++i) {
    BOOST_TEST(one.s(static_cast<int>(i)) == (kIntegerRelations[i].equal ? 1u : 0u), names[i]);
    BOOST_TEST(one.s(static_cast<int>(10 + i)) == (kIntegerRelations[i].greater ? 1u : 0u),
               names[i]);
  }
}

BOOST_AUTO_TEST_CASE(pairs_of_scalars_are_compared_as_64_bits) {
  OneWave one;
  one.wave.set_scalar64(0, uint64_t{1} << 40);
  one.wave.set_scalar64(2, uint64_t{2} << 40);
  one.run(
      "s_cmp_eq_u64 s[0:1], s[2:3]\n s_cselect_b32 s4, 1, 0\n s_cmp_lg_u64 s[0:1], s[2:3]\n "
      "s_cselect_b32 s5, 1, 0\n"
      "s_cmp_eq_u64 s[0:1], s[0:1]\n s_cselect_b32 s6, 1, 0\n s_cmp_lg_u64 s[0:1], s[0:1]\n "
      "s_cselect_b32 s7, 1, 0");
  BOOST_TEST(one.s(4) == 0u);
  BOOST_TEST(one.s(5) == 1u);
  BOOST_TEST(one.s(6) == 1u);
  BOOST_TEST(one.s(7) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

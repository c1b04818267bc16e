// SPDX-License-Identifier: MIT
// VOPC: comparisons of 64 lanes into a lane mask; v_cmpx_* also makes the mask the exec mask.
#include <string>

#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

template <Execute kCompare>
void compare_into_exec(Wave& wave, const Op& op) {
  kCompare(wave, op);
  wave.set_scalar64(kExecRegister, wave.scalar64(op.operands[0].index));
}

template <class F>
void add(OpTable* table, const std::string& relation, const std::string& type, F compare) {
  (*table)["v_cmp_" + relation + "_" + type] = lanes(compare);
  constexpr Execute kCompare = decltype(lane_op(&F::operator()))::execute;
  (*table)["v_cmpx_" + relation + "_" + type] = {compare_into_exec<kCompare>, Family::kVector, {}};
}

// The six relations; `not equal` is spelled differently for integers and floats.
template <class T>
void add_relations(OpTable* table, const std::string& type) {
  add(table, "lt", type, [](T a, T b) { return a < b; });
  add(table, "eq", type, [](T a, T b) { return a == b; });
  add(table, "le", type, [](T a, T b) { return a <= b; });
  add(table, "gt", type, [](T a, T b) { return a > b; });
  add(table, "ge", type, [](T a, T b) { return a >= b; });
}

template <class T>
void add_integer_relations(OpTable* table, const std::string& type) {
  add_relations<T>(table, type);
  add(table, "ne", type, [](T a, T b) { return a != b; });
}

template <class T>
void add_float_relations(OpTable* table, const std::string& type) {
  add_relations<T>(table, type);
  add(table, "lg", type, [](T a, T b) { return a < b || a > b; });
  add(table, "o", type, [](T a, T b) { return a == a && b == b; });
  add(table, "u", type, [](T a, T b) { return a != a || b != b; });
  add(table, "nge", type, [](T a, T b) { return !(a >= b); });
  add(table, "nlg", type, [](T a, T b) { return !(a < b || a > b); });
  add(table, "ngt", type, [](T a, T b) { return !(a > b); });
  add(table, "nle", type, [](T a, T b) { return !(a <= b); });
  add(table, "neq", type, [](T a, T b) { return !(a == b); });
  add(table, "nlt", type, [](T a, T b) { return !(a < b); });
}

// The lower halves of the sources.
struct Half {
  uint32_t bits;
  uint16_t value() const { return static_cast<uint16_t>(bits); }
  friend bool operator<(Half a, Half b) { return a.value() < b.value(); }
  friend bool operator>(Half a, Half b) { return a.value() > b.value(); }
  friend bool operator<=(Half a, Half b) { return a.value() <= b.value(); }
  friend bool operator>=(Half a, Half b) { return a.value() >= b.value(); }
  friend bool operator==(Half a, Half b) { return a.value() == b.value(); }
  friend bool operator!=(Half a, Half b) { return a.value() != b.value(); }
};

}  // namespace

void add_compare_ops(OpTable* table) {
  add_integer_relations<uint32_t>(table, "u32");
  add_integer_relations<int32_t>(table, "i32");
  add_integer_relations<uint64_t>(table, "u64");
  add_integer_relations<int64_t>(table, "i64");
  add_integer_relations<Half>(table, "u16");
  add_float_relations<float>(table, "f32");
}

}  // namespace mla::amdgcn

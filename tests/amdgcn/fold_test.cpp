// SPDX-License-Identifier: MIT
// What clang computes for constant arguments is what the emulator computes for loaded ones:
// integer, 64-bit, float, comparison and conversion instructions in vector and scalar registers.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>

#include "tests/amdgcn/code_objects.h"
#include "tests/amdgcn/covered.h"
#include "tests/amdgcn/fold_functions.h"

namespace {

using namespace mla::amdgcn;
using fold::I32;
using fold::I64;
using fold::kCount;
using fold::U32;
using fold::U64;

// What a kernel that only stores constants consists of.
const std::set<std::string> kStoresConstants = {"s_load_dwordx2",
                                                "s_waitcnt",
                                                "v_mov_b32",
                                                "v_mov_b64",
                                                "s_mov_b32",
                                                "s_mov_b64",
                                                "s_movk_i32",
                                                "v_not_b32",
                                                "v_bfrev_b32",
                                                "s_endpgm",
                                                "global_store_dwordx4",
                                                "global_store_dwordx3",
                                                "s_nop",
                                                "global_store_dwordx2",
                                                "global_store_dword"};

std::set<std::string> mnemonics(const Kernel& kernel) {
  std::set<std::string> found;
  for (const Instruction& instruction : kernel.instructions) found.insert(instruction.mnemonic);
  return found;
}

const CodeObject& functions(const std::string& target) {
  static const CodeObject gfx942 = built_code_object("fold", "gfx942");
  static const CodeObject gfx950 = built_code_object("fold", "gfx950");
  return target == "gfx942" ? gfx942 : gfx950;
}

template <class Result>
std::vector<Result> run(const std::string& target,
                        const std::string& kernel,
                        const Arguments& arguments,
                        const MemoryMap& memory,
                        std::vector<Result>* out,
                        uint32_t workgroups) {
  Machine machine(functions(target), memory);
  machine.run({kernel, {workgroups}, {64}, 0, arguments.data(), arguments.size()}, {});
  return *out;
}

bool same(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}
template <class T>
bool same(T a, T b) {
  return a == b;
}

// Each word of `wanted` names alternatives, one of which the kernel must contain; those it contains
// are covered.
void check_mnemonics(const Kernel& kernel, const std::string& wanted) {
  const std::set<std::string> found = mnemonics(kernel);
  std::istringstream words(wanted);
  for (std::string word; words >> word;) {
    bool present = false;
    std::istringstream alternatives(word);
    for (std::string mnemonic; std::getline(alternatives, mnemonic, '|');) {
      if (found.count(mnemonic) == 0) continue;
      present = true;
      covered_mnemonics().insert(mnemonic);
    }
    BOOST_TEST(present, kernel.metadata.name << " has no " << word);
  }
}

template <class Result, class Argument>
void compare(const std::string& name,
             const std::string& vector_mnemonics,
             const std::string& scalar_mnemonics) {
  std::vector<Argument> in;
  for (int i = 0; i < kCount; ++i) {
    in.insert(in.end(),
              {fold::argument<Argument>(i),
               fold::argument<Argument>(fold::kSecond * i + 1),
               fold::argument<Argument>(fold::kThird * i + 3)});
  }
  std::vector<Result> out(kCount);
  MemoryMap memory;
  add(&memory, in, "in", Permission::kReadOnly);
  add(&memory, out, "out");
  for (const std::string target : kTargets) {
    for (const std::string& mnemonic : mnemonics(functions(target).kernel(name + "_folded"))) {
      BOOST_TEST(kStoresConstants.count(mnemonic) == 1u, name << " is not folded: " << mnemonic);
    }
    check_mnemonics(functions(target).kernel(name + "_vector"), vector_mnemonics);
    check_mnemonics(functions(target).kernel(name + "_scalar"), scalar_mnemonics);
    const auto folded = run(target, name + "_folded", Arguments(out.data()), memory, &out, 1);
    const Arguments arguments(in.data(), out.data());
    const auto per_lane = run(target, name + "_vector", arguments, memory, &out, 1);
    const auto uniform = run(target, name + "_scalar", arguments, memory, &out, kCount);
    for (size_t i = 0; i < kCount; ++i) {
      BOOST_TEST_CONTEXT(target << " " << name << "(" << in[3 * i] << ", " << in[3 * i + 1] << ", "
                                << in[3 * i + 2] << ")") {
        BOOST_TEST(same(per_lane[i], folded[i]),
                   "vector: " << per_lane[i] << ", folded: " << folded[i]);
        BOOST_TEST(same(uniform[i], folded[i]),
                   "scalar: " << uniform[i] << ", folded: " << folded[i]);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE(values_that_clang_folds)

#define MLA_FOLD(name, Result, Argument, value, vector_mnemonics, scalar_mnemonics) \
  BOOST_AUTO_TEST_CASE(name) {                                                      \
    compare<Result, Argument>(#name, vector_mnemonics, scalar_mnemonics);           \
  }
#include "tests/amdgcn/fold_list.inc"
#undef MLA_FOLD

BOOST_AUTO_TEST_SUITE_END()

}  // namespace

// SPDX-License-Identifier: MIT
// Scalar comparisons, and the instructions that change the exec mask (CDNA3 ISA manual, section 12:
// SOPC, SOPK, SOP1).
#include <string>

#include "tests/amdgcn/scalars.h"

namespace mla::amdgcn {
namespace {

template <class T>
void add_comparisons(OpTable* table, const std::string& type) {
  (*table)["s_cmp_eq_" + type] = scalar([](bool& scc, T a, T b) { scc = a == b; });
  (*table)["s_cmp_lg_" + type] = scalar([](bool& scc, T a, T b) { scc = a != b; });
  (*table)["s_cmp_gt_" + type] = scalar([](bool& scc, T a, T b) { scc = a > b; });
  (*table)["s_cmp_ge_" + type] = scalar([](bool& scc, T a, T b) { scc = a >= b; });
  (*table)["s_cmp_lt_" + type] = scalar([](bool& scc, T a, T b) { scc = a < b; });
  (*table)["s_cmp_le_" + type] = scalar([](bool& scc, T a, T b) { scc = a <= b; });
  // The destination field is the first source; the signed forms extend the sign of their 16 bits.
  (*table)["s_cmpk_eq_" + type] = scalar([](bool& scc, T a, T b) { scc = a == extended<T>(b); });
  (*table)["s_cmpk_lg_" + type] = scalar([](bool& scc, T a, T b) { scc = a != extended<T>(b); });
  (*table)["s_cmpk_gt_" + type] = scalar([](bool& scc, T a, T b) { scc = a > extended<T>(b); });
  (*table)["s_cmpk_ge_" + type] = scalar([](bool& scc, T a, T b) { scc = a >= extended<T>(b); });
  (*table)["s_cmpk_lt_" + type] = scalar([](bool& scc, T a, T b) { scc = a < extended<T>(b); });
  (*table)["s_cmpk_le_" + type] = scalar([](bool& scc, T a, T b) { scc = a <= extended<T>(b); });
}

// D = EXEC; EXEC = f(source, EXEC); SCC = EXEC is not empty.
template <class F>
void save_exec(Wave& wave, const Op& op) {
  const uint64_t source = read_scalar<uint64_t>(wave, op, 1);
  const uint64_t exec = wave.exec();
  write_scalar(wave, op, exec);
  const uint64_t result = F{}(source, exec);
  wave.set_scalar64(kExecRegister, result);
  wave.scc = result != 0;
}

template <class F>
OpInfo saves_exec(F) {
  return {save_exec<F>, Family::kScalar, {}};
}

}  // namespace

void add_scalar_exec_ops(OpTable* table) {
  add_comparisons<uint32_t>(table, "u32");
  add_comparisons<int32_t>(table, "i32");
  (*table)["s_cmp_eq_u64"] = scalar([](bool& scc, uint64_t a, uint64_t b) { scc = a == b; });
  (*table)["s_cmp_lg_u64"] = scalar([](bool& scc, uint64_t a, uint64_t b) { scc = a != b; });
  (*table)["s_and_saveexec_b64"] = saves_exec([](uint64_t s, uint64_t exec) { return s & exec; });
  (*table)["s_or_saveexec_b64"] = saves_exec([](uint64_t s, uint64_t exec) { return s | exec; });
  (*table)["s_xor_saveexec_b64"] = saves_exec([](uint64_t s, uint64_t exec) { return s ^ exec; });
  (*table)["s_andn2_saveexec_b64"] =
      saves_exec([](uint64_t s, uint64_t exec) { return s & ~exec; });
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
// Branches, waits, barriers, hints, hardware registers.
#include "kernels/error.h"
#include "kernels/text.h"
#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {
namespace {

OpInfo control(Execute execute) {
  return {execute, Family::kScalar, {}};
}

template <bool (*kTaken)(const Wave&)>
void branch(Wave& wave, const Op& op) {
  if (kTaken(wave)) wave.next = op.branch;
}

bool always(const Wave&) {
  return true;
}
bool scc_clear(const Wave& wave) {
  return !wave.scc;
}
bool scc_set(const Wave& wave) {
  return wave.scc;
}
bool exec_empty(const Wave& wave) {
  return wave.exec() == 0;
}
bool exec_filled(const Wave& wave) {
  return wave.exec() != 0;
}
bool vcc_empty(const Wave& wave) {
  return wave.scalar64(kVccRegister) == 0;
}
bool vcc_filled(const Wave& wave) {
  return wave.scalar64(kVccRegister) != 0;
}

void no_effect(Wave&, const Op&) {}

void end_program(Wave& wave, const Op&) {
  wave.wait({0, 0});  // what is outstanding still takes place
  wave.state = Wave::State::kEnded;
}

void trap(Wave&, const Op&) {
  throw Error(ErrorCode::kDevice, "a trap: an assertion of the kernel");
}

void read_hardware_register(Wave& wave, const Op& op) {
  const std::string& name = op.instruction->operands[1].text;
  if (!starts_with(name, "hwreg(HW_REG_XCC_ID")) {
    throw Error(ErrorCode::kDevice, "unknown hardware register " + in_quotes(name));
  }
  wave.scalars[op.operands[0].index] = wave.xcc_id;
}

}  // namespace

void add_control_ops(OpTable* table) {
  const OpTable ops = {
      {"s_branch", control(branch<always>)},
      {"s_cbranch_scc0", control(branch<scc_clear>)},
      {"s_cbranch_scc1", control(branch<scc_set>)},
      {"s_cbranch_execz", control(branch<exec_empty>)},
      {"s_cbranch_execnz", control(branch<exec_filled>)},
      {"s_cbranch_vccz", control(branch<vcc_empty>)},
      {"s_cbranch_vccnz", control(branch<vcc_filled>)},
      {"s_waitcnt", control([](Wave& wave, const Op& op) { wave.wait(op.wait); })},
      {"s_barrier", control([](Wave& wave, const Op&) { wave.state = Wave::State::kAtBarrier; })},
      {"s_endpgm", control(end_program)},
      {"s_trap", control(trap)},
      {"s_getreg_b32", control(read_hardware_register)},
  };
  table->insert(ops.begin(), ops.end());
  // Hazards, priorities, instruction fetch and cache maintenance do not change what a kernel
  // computes here.
  for (const char* name : {"s_nop",
                           "s_setprio",
                           "s_sleep",
                           "s_dcache_wb",
                           "s_dcache_inv",
                           "buffer_inv",
                           "buffer_wbl2"}) {
    (*table)[name] = control(no_effect);
  }
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
#include "kernels/amdgcn/address_slice.h"

#include <algorithm>
#include <set>

namespace mla::amdgcn {
namespace {

// Vector registers, then accumulators, then scalars by their hardware number, then SCC.
constexpr int kAccumulators = 1000;
constexpr int kScalars = 2000;
constexpr int kScc = 3000;

using Registers = std::set<int>;

void add(const Operand& operand, Registers* registers) {
  if (!operand.is_register()) return;
  const int base = operand.kind == OperandKind::kVector        ? 0
                   : operand.kind == OperandKind::kAccumulator ? kAccumulators
                                                               : kScalars;
  for (int i = 0; i < operand.count; ++i) registers->insert(base + operand.first + i);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_lds(const Instruction& instruction) {
  return starts_with(instruction.mnemonic, "ds_");
}

bool is_global(const Instruction& instruction) {
  return starts_with(instruction.mnemonic, "global_") ||
         starts_with(instruction.mnemonic, "buffer_") || starts_with(instruction.mnemonic, "flat_");
}

bool is_scalar_load(const Instruction& instruction) {
  return starts_with(instruction.mnemonic, "s_load") ||
         starts_with(instruction.mnemonic, "s_buffer_load");
}

// What an instruction reads and writes, and which of its operands are an address.
struct Effect {
  Registers reads;
  Registers writes;
  Registers address;
  bool arithmetic = false;
};

// ds_bpermute moves values between lanes: what it is given is no address of memory.
Effect lds_effect(const Instruction& instruction) {
  Effect effect;
  const bool loads =
      starts_with(instruction.mnemonic, "ds_read") || contains(instruction.mnemonic, "permute");
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const size_t address = loads ? 1 : 0;
    if (i == address && !contains(instruction.mnemonic, "permute")) {
      add(instruction.operands[i], &effect.address);
    }
    add(instruction.operands[i], loads && i == 0 ? &effect.writes : &effect.reads);
  }
  return effect;
}

// A load's first operand is its result, a store's data is its second; all else is the address. A
// load to LDS has no result and its place in LDS in M0.
Effect global_effect(const Instruction& instruction) {
  Effect effect;
  const bool to_lds = is_load_to_lds(instruction);
  const bool stores = contains(instruction.mnemonic, "_store");
  const bool buffer = starts_with(instruction.mnemonic, "buffer_");
  const size_t data = to_lds ? SIZE_MAX : stores && !buffer ? 1 : 0;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i != data) {
      add(instruction.operands[i], &effect.address);
    } else if (!stores) {
      add(instruction.operands[i], &effect.writes);
    }
  }
  if (to_lds) effect.address.insert(kScalars + kM0Register);
  return effect;
}

Effect scalar_load_effect(const Instruction& instruction) {
  Effect effect;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    add(instruction.operands[i], i == 0 ? &effect.writes : &effect.address);
  }
  return effect;
}

bool writes_two(std::string_view mnemonic) {
  return contains(mnemonic, "_co_") || starts_with(mnemonic, "v_mad_u64_u32") ||
         starts_with(mnemonic, "v_mad_i64_i32");
}

// SCC: written by scalar arithmetic and comparisons, read by selections and additions with carry.
void add_scc(std::string_view mnemonic, Effect* effect) {
  if (!starts_with(mnemonic, "s_")) return;
  const bool moves = starts_with(mnemonic, "s_mov") || starts_with(mnemonic, "s_cselect") ||
                     starts_with(mnemonic, "s_mul_");
  if (!moves) effect->writes.insert(kScc);
  if (starts_with(mnemonic, "s_cselect") || starts_with(mnemonic, "s_addc") ||
      starts_with(mnemonic, "s_subb") || starts_with(mnemonic, "s_cmov")) {
    effect->reads.insert(kScc);
  }
}

Effect arithmetic_effect(const Instruction& instruction) {
  Effect effect;
  const std::string_view mnemonic = instruction.mnemonic;
  const bool no_result = starts_with(mnemonic, "s_cmp") || starts_with(mnemonic, "s_bitcmp");
  const bool swaps = contains(mnemonic, "_swap");
  effect.arithmetic = !starts_with(mnemonic, "v_mfma_");
  const size_t results = no_result ? 0 : swaps || writes_two(mnemonic) ? 2 : 1;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i < results) add(instruction.operands[i], &effect.writes);
    if (i >= results || swaps) add(instruction.operands[i], &effect.reads);
  }
  add_scc(mnemonic, &effect);
  return effect;
}

Effect effect_of(const Instruction& instruction) {
  if (is_lds(instruction)) return lds_effect(instruction);
  if (is_global(instruction)) return global_effect(instruction);
  if (is_scalar_load(instruction)) return scalar_load_effect(instruction);
  if (instruction.branch_target || instruction.operands.empty()) return {};
  if (starts_with(instruction.mnemonic, "s_waitcnt")) return {};
  return arithmetic_effect(instruction);
}

bool intersects(const Registers& a, const Registers& b) {
  return std::any_of(a.begin(), a.end(), [&](int r) { return b.count(r) != 0; });
}

}  // namespace

std::vector<bool> address_arithmetic(const std::vector<Instruction>& instructions,
                                     const Loop& loop) {
  std::vector<Effect> effects;
  for (size_t i = loop.begin; i < loop.end; ++i) effects.push_back(effect_of(instructions[i]));
  std::vector<bool> marked(effects.size(), false);
  Registers needed;  // registers that hold part of an address at this point of the walk
  // Backwards until a whole turn of the loop adds nothing.
  for (bool changed = true; changed;) {
    changed = false;
    const Registers before = needed;
    for (size_t i = effects.size(); i-- > 0;) {
      const Effect& effect = effects[i];
      const bool feeds = intersects(effect.writes, needed);
      for (const int r : effect.writes) needed.erase(r);
      if (feeds && effect.arithmetic) {
        needed.insert(effect.reads.begin(), effect.reads.end());
        changed = changed || !marked[i];
        marked[i] = true;
      }
      needed.insert(effect.address.begin(), effect.address.end());
    }
    changed = changed || needed != before;
  }
  return marked;
}

}  // namespace mla::amdgcn

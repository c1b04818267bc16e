// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <bit>

#include "kernels/error.h"
#include "tests/amdgcn/modifiers.h"
#include "tests/amdgcn/op.h"

namespace mla::amdgcn {
namespace {

constexpr int kFirstAccumulator = 256;

Source decode_operand(const Operand& operand) {
  Source source;
  source.index = operand.first;
  source.count = operand.count;
  source.negate = operand.negate;
  source.absolute = operand.absolute;
  source.sign_extend = operand.sign_extend;
  switch (operand.kind) {
    case OperandKind::kVector:
      source.file = File::kVector;
      break;
    case OperandKind::kAccumulator:
      source.file = File::kVector;
      source.index += kFirstAccumulator;
      break;
    case OperandKind::kScalar:
      source.file = File::kScalar;
      break;
    case OperandKind::kInteger:
      source.file = File::kConstant;
      source.bits = static_cast<uint64_t>(operand.integer);
      break;
    case OperandKind::kFloat:
      source.file = File::kConstant;
      source.bits = std::bit_cast<uint32_t>(static_cast<float>(operand.number));
      break;
    case OperandKind::kText:
      break;
  }
  return source;
}

bool loads_first_operand(const Instruction& instruction, const Op& op) {
  const std::string& name = instruction.mnemonic;
  if (starts_with(name, "ds_")) return !starts_with(name, "ds_write");
  return starts_with(name, "s_load_") || starts_with(name, "s_buffer_load_") ||
         (name.find("_load_") != std::string::npos && !op.to_lds) ||
         (name.find("_atomic_") != std::string::npos && op.returns);
}

Op decode_one(const Instruction& instruction) {
  const auto found = op_table().find(instruction.mnemonic);
  if (found == op_table().end()) throw Error(ErrorCode::kUsage, "unknown instruction");
  const OpInfo& info = found->second;
  Op op;
  op.execute = info.execute;
  op.instruction = &instruction;
  op.form = info.form;
  for (const Operand& operand : instruction.operands)
    op.operands.push_back(decode_operand(operand));
  decode_modifiers(instruction, info.family, &op);
  if (info.family == Family::kMemory && loads_first_operand(instruction, op)) op.loaded_operand = 0;
  return op;
}

OpTable full_table() {
  OpTable table;
  for (const auto add : {add_scalar_ops,
                         add_scalar_exec_ops,
                         add_control_ops,
                         add_integer_ops,
                         add_float_ops,
                         add_division_ops,
                         add_convert_ops,
                         add_compare_ops,
                         add_packed_ops,
                         add_lane_ops,
                         add_matrix_ops,
                         add_lds_ops,
                         add_global_ops,
                         add_scalar_memory_ops}) {
    add(&table);
  }
  return table;
}

}  // namespace

const OpTable& op_table() {
  static const OpTable table = full_table();
  return table;
}

std::vector<Op> decode(const std::vector<Instruction>& instructions) {
  std::unordered_map<uint64_t, size_t> index_of;
  for (size_t i = 0; i < instructions.size(); ++i) index_of[instructions[i].address] = i;
  std::vector<Op> ops;
  ops.reserve(instructions.size());
  for (const Instruction& instruction : instructions) {
    try {
      ops.push_back(decode_one(instruction));
      if (!instruction.branch_target) continue;
      const auto target = index_of.find(*instruction.branch_target);
      if (target == index_of.end()) throw Error(ErrorCode::kUsage, "a branch out of the kernel");
      ops.back().branch = target->second;
    } catch (const Error& error) {
      throw Error(
          error.code(),
          fmt::format("{:#x}: {}: {}", instruction.address, instruction.text, error.what()));
    }
  }
  return ops;
}

}  // namespace mla::amdgcn

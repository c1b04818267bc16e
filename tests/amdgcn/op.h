// SPDX-License-Identifier: MIT
// An instruction made ready to execute: a function, its operands as register numbers or bits, its
// modifiers as numbers. Decoded once per kernel; the tables of the *_ops.cpp files give the
// functions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/amdgcn/instruction.h"

namespace mla::amdgcn {

inline constexpr int kLanes = 64;
inline constexpr int kVectorRegisters = 512;  // v0..v255, then a0..a255
inline constexpr int kScalarRegisters = 128;  // by hardware number

class Wave;
struct Op;
using Execute = void (*)(Wave& wave, const Op& op);

enum class File : uint8_t { kNone, kVector, kScalar, kConstant };

struct Source {
  File file = File::kNone;
  int index = 0;
  int count = 0;      // 32-bit registers
  uint64_t bits = 0;  // of a constant; a floating-point one as float32
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;

  bool is_register() const { return file == File::kVector || file == File::kScalar; }
};

// Which lane a lane's first source comes from; -1: no lane.
struct Dpp {
  std::array<int8_t, kLanes> lane;
  uint64_t writable = 0;  // by row_mask and bank_mask
  bool zero_invalid = false;
};

// Sub-dword addressing: part of a register as a source or destination.
struct Sdwa {
  struct Part {
    uint8_t shift = 0;
    uint8_t bits = 32;
  };
  Part destination;
  bool keep_rest = false;  // of the destination; else it becomes zero
  std::array<Part, 2> sources;
};

// What moves per lane in a memory instruction.
struct MemoryForm {
  uint8_t bytes = 0;          // per element
  uint8_t elements = 1;       // 2 for ds_read2
  uint16_t stride_bytes = 0;  // unit of offset0 and offset1; 0: plain offset
  bool sign_extend = false;   // of elements shorter than a dword
  bool high_half = false;     // of the register
  bool keep_other_half = false;
};

enum class Family : uint8_t { kScalar, kVector, kPacked, kMatrix, kMemory };

struct OpInfo {
  Execute execute = nullptr;
  Family family = Family::kVector;
  MemoryForm form = {};
};
using OpTable = std::unordered_map<std::string, OpInfo>;

struct Op {
  Execute execute = nullptr;
  const Instruction* instruction = nullptr;
  std::vector<Source> operands;
  size_t branch = 0;  // index of the target
  WaitCounts wait;

  MemoryForm form;
  int64_t offset = 0;
  std::array<int, 2> offsets = {0, 0};  // offset0, offset1
  bool to_lds = false;
  bool offset_enabled = false;  // offen
  bool returns = false;         // sc0 of an atomic

  // Packed math: which half of source i feeds the low and the high result, and their signs.
  std::array<bool, 3> select_low = {false, false, false};
  std::array<bool, 3> select_high = {true, true, true};
  std::array<bool, 3> negate_low = {false, false, false};
  std::array<bool, 3> negate_high = {false, false, false};
  uint8_t truth_table = 0;  // of v_bitop3_b32
  std::shared_ptr<const Dpp> dpp;
  std::shared_ptr<const Sdwa> sdwa;

  // The operand a memory instruction loads; registers of it stay out of use until the load
  // completes.
  int loaded_operand = -1;
};

// Every instruction known; the parts come from the file of their topic.
const OpTable& op_table();
void add_scalar_ops(OpTable* table);
void add_scalar_exec_ops(OpTable* table);
void add_control_ops(OpTable* table);
void add_integer_ops(OpTable* table);
void add_float_ops(OpTable* table);
void add_division_ops(OpTable* table);
void add_convert_ops(OpTable* table);
void add_compare_ops(OpTable* table);
void add_packed_ops(OpTable* table);
void add_lane_ops(OpTable* table);
void add_matrix_ops(OpTable* table);
void add_lds_ops(OpTable* table);
void add_global_ops(OpTable* table);
void add_scalar_memory_ops(OpTable* table);

// Throws Error naming address and text of an instruction, modifier or operand that is not known.
std::vector<Op> decode(const std::vector<Instruction>& instructions);

}  // namespace mla::amdgcn

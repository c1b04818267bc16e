// SPDX-License-Identifier: MIT
// One machine instruction of an AMD GPU as llvm-objdump prints it, taken apart: mnemonic, encoding,
// operands, modifiers, branch target. Text in, text out: nothing here knows what an instruction
// does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mla::amdgcn {

enum class OperandKind : uint8_t {
  kVector,       // v0..v255
  kAccumulator,  // a0..a255
  kScalar,  // by hardware number: s0..s101, flat_scratch 102, xnack_mask 104, vcc 106, m0 124, exec
            // 126
  kInteger,  // an inline constant or literal, sign-extended if it was printed with a sign
  kFloat,    // an inline constant such as 0.5; which bits it stands for depends on the instruction
  kText,     // off, hwreg(HW_REG_XCC_ID), src_scc, ...
};

inline constexpr int kVccRegister = 106;
inline constexpr int kM0Register = 124;
inline constexpr int kExecRegister = 126;

struct Operand {
  OperandKind kind = OperandKind::kText;
  int first = 0;  // register number
  int count = 0;  // 32-bit registers; 0 for what is not a register
  int64_t integer = 0;
  double number = 0.0;
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;  // sext() of a sub-dword operand
  std::string text;

  bool is_register() const { return count > 0; }
};

enum class Encoding : uint8_t { kPlain, kE32, kE64, kDpp, kSdwa };

struct Instruction {
  uint64_t address = 0;
  std::string mnemonic;  // without the suffix that names the encoding: v_add_u32, not v_add_u32_e32
  Encoding encoding = Encoding::kPlain;
  std::vector<Operand> operands;
  std::vector<std::string> modifiers;  // "offset:16", "lds", "row_shr:1", "op_sel:[0,1]"
  std::optional<uint64_t> branch_target;
  std::string text;  // as printed, without address and encoding

  bool has(std::string_view modifier) const;  // "lds", or the name in front of the colon
  // What is behind "src0_sel:"; empty without that modifier.
  std::string_view text_of(std::string_view modifier) const;
  // The number behind "offset:"; nothing without that modifier.
  std::optional<int64_t> value_of(std::string_view modifier) const;
  // The numbers of "op_sel:[0,1]" or "quad_perm:[1,0,3,2]"; empty without that modifier.
  std::vector<int> list_of(std::string_view modifier) const;
};

// One line of disassembly: "s_nop 0   // 000000001B8C: BF800000". Nothing for a line that is no
// instruction.
std::optional<Instruction> parse_instruction(std::string_view line);

// What an s_waitcnt leaves outstanding. A counter that the instruction does not name is at its
// largest value, which the hardware's counters never exceed.
struct WaitCounts {
  static constexpr int kVmMax = 63;
  static constexpr int kLgkmMax = 15;
  int vm = kVmMax;      // loads and stores of global memory, loads to LDS
  int lgkm = kLgkmMax;  // LDS, scalar memory
};
std::optional<WaitCounts> wait_counts(const Instruction& instruction);

// A copy from global memory straight into LDS: global_load_lds_*, or a buffer or global load with
// `lds`.
bool is_load_to_lds(const Instruction& instruction);

bool starts_with(std::string_view text, std::string_view prefix);

}  // namespace mla::amdgcn

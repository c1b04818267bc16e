// SPDX-License-Identifier: MIT
// A code object for an AMD GPU: its kernels with what their descriptors and metadata say about
// registers, local memory and arguments, and their instructions. Read through llvm-objdump and
// llvm-readobj, or from their saved text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/amdgcn/instruction.h"

namespace mla::amdgcn {

struct KernelArgument {
  int offset_bytes = 0;
  int size_bytes = 0;
  std::string value_kind;  // by_value, global_buffer, hidden_block_count_x, ...

  bool is_hidden() const { return starts_with(value_kind, "hidden_"); }
};

// From the code object's metadata note. Dynamic local memory is not in it.
struct KernelMetadata {
  std::string name;
  int vgprs = 0;  // both kinds together on targets with one file, accumulation registers included
  int agprs = 0;
  int sgprs = 0;
  int vgpr_spills = 0;
  int sgpr_spills = 0;
  int private_segment_bytes = 0;
  int static_lds_bytes = 0;
  int max_workgroup_size = 0;
  int kernarg_bytes = 0;
  std::vector<KernelArgument> arguments;
};

struct Kernel {
  KernelMetadata metadata;
  // The fields of the kernel descriptor by the name of their assembler directive less ".amdhsa_",
  // for example descriptor.at("system_sgpr_workgroup_id_x").
  std::map<std::string, int64_t> descriptor;
  std::vector<Instruction> instructions;
};

struct CodeObject {
  std::string target;  // gfx942, gfx950
  std::vector<Kernel> kernels;

  const Kernel& kernel(std::string_view name) const;  // throws Error if there is none
};

// The text of `llvm-objdump -D -j .rodata -j .text FILE` and of `llvm-readobj --notes FILE`.
CodeObject parse_code_object(std::string_view disassembly, std::string_view notes);

// Runs the two programs; throws Error where they or the file are missing.
struct LlvmTools {
  std::string objdump;
  std::string readobj;
};
CodeObject read_code_object(const std::string& path, const LlvmTools& tools);

// All instructions of an object file, kernels or not.
std::vector<Instruction> read_instructions(const std::string& path, const LlvmTools& tools);

}  // namespace mla::amdgcn

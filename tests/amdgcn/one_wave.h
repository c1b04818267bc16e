// SPDX-License-Identifier: MIT
// Single instructions on one wave: a test sets registers, runs assembler text, looks at registers
// and memory. What it expects is a rule of the ISA manual that the test states. Every instruction
// that runs here counts as covered.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "tests/amdgcn/machine.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {

// By the assembler of clang, all texts in one go, each with an s_endpgm behind it; throws Error for
// text that it does not take on this target.
std::vector<std::vector<Instruction>> assemble(const std::vector<std::string>& texts,
                                               const std::string& target = "gfx950");

class OneWave {
 public:
  explicit OneWave(Completion completion = Completion::kEarly,
                   const std::string& target = "gfx950");

  // Registers stay as they are between calls.
  void run(std::vector<Instruction> instructions);
  void resume();  // behind a barrier
  void run(const std::string& text) { run(assemble({text}, target_)[0]); }

  Lanes& v(int index) { return wave.vectors[static_cast<size_t>(index)]; }
  Lanes& a(int index) { return wave.vectors[static_cast<size_t>(256 + index)]; }
  uint32_t& s(int index) { return wave.scalars[static_cast<size_t>(index)]; }
  uint64_t s64(int index) const { return wave.scalar64(index); }
  float f(int index, int lane) const;
  void set_exec(uint64_t mask) { wave.set_scalar64(kExecRegister, mask); }
  void set_v64(int index, uint64_t value);           // of every lane
  void set_address(int index, const void* address);  // v[index : index + 1] of every lane

  template <class Value>
  void fill(int index, Value&& value_of_lane) {
    for (int lane = 0; lane < kLanes; ++lane)
      v(index)[static_cast<size_t>(lane)] = bits(value_of_lane(lane));
  }

  static constexpr size_t kLocalBytes = 16384;
  LocalMemory local;
  MemoryMap memory;
  Wave wave;

 private:
  static uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
  static uint32_t bits(uint32_t value) { return value; }
  static uint32_t bits(int value) { return static_cast<uint32_t>(value); }

  std::string target_;
  std::vector<Instruction> instructions_;  // outstanding accesses refer to these
  std::vector<Op> ops_;
};

}  // namespace mla::amdgcn

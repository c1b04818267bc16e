// SPDX-License-Identifier: MIT
// Executes kernels of a code object: a grid of workgroups, one after the other, each of waves of 64
// lanes that run in a fixed order. Whatever the hardware would get wrong silently is a Fault here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/amdgcn/code_object.h"
#include "kernels/error.h"
#include "tests/amdgcn/memory_map.h"
#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {

// The text names kernel, workgroup, wave, address and instruction.
class Fault : public Error {
 public:
  explicit Fault(const std::string& text) : Error(ErrorCode::kDevice, text) {}
};

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  uint32_t count() const { return x * y * z; }
};

struct Launch {
  std::string_view kernel;
  Dim3 grid;   // workgroups
  Dim3 block;  // work items of a workgroup
  size_t dynamic_lds_bytes = 0;
  const void* arguments = nullptr;  // the explicit ones, laid out as the kernel's metadata says
  size_t arguments_bytes = 0;
};

// Waves run one at a time, each as far as the next barrier: whatever is ahead without a barrier is
// seen ahead.
enum class WaveOrder : uint8_t { kFirstAhead, kLastAhead };

struct Mode {
  Completion completion = Completion::kLate;
  WaveOrder order = WaveOrder::kFirstAhead;
};

// Executes until the wave ends or waits at a barrier.
void run_wave(const std::vector<Op>& ops, Wave* wave);

class Machine {
 public:
  // Both must outlive the machine.
  Machine(const CodeObject& code_object, const MemoryMap& memory);

  // Throws Fault, or Error where the launch itself is wrong.
  void run(const Launch& launch, Mode mode);

  uint64_t instructions() const { return instructions_; }  // executed so far, of all waves

 private:
  struct Program {
    const Kernel* kernel;
    std::vector<Op> ops;
  };
  const Program& program(std::string_view name);
  struct Workgroup {
    LocalMemory local;
    std::deque<Wave> waves;
  };
  void run_workgroup(const Program& program,
                     const Launch& launch,
                     WaveOrder order,
                     Dim3 place,
                     Workgroup* workgroup);

  const CodeObject& code_object_;
  const MemoryMap& memory_;
  std::map<std::string, Program, std::less<>> programs_;
  uint64_t instructions_ = 0;
};

}  // namespace mla::amdgcn

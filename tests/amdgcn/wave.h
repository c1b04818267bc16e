// SPDX-License-Identifier: MIT
// The state of one wave of 64 lanes: registers, and the memory instructions that it has issued and
// that are not complete yet. Completion::kLate holds those back until a wait forces them, kEarly
// completes them when issued.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/amdgcn/memory_map.h"
#include "tests/amdgcn/op.h"

namespace mla::amdgcn {

using Lanes = std::array<uint32_t, kLanes>;

enum class Completion : uint8_t { kLate, kEarly };

// Local memory of a workgroup; throws Error for what lies outside.
class LocalMemory {
 public:
  explicit LocalMemory(size_t bytes) : bytes_(bytes) { clear(); }
  void clear() { std::fill(bytes_.begin(), bytes_.end(), std::byte{0xFF}); }  // NaN as any float
  std::byte* at(uint64_t offset, size_t bytes);
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

// One issued memory instruction. Addresses are checked when it is issued.
struct Access {
  const Op* op = nullptr;
  void (*complete)(Wave& wave, const Access& access) = nullptr;
  bool out_of_order = false;  // scalar memory
  uint64_t mask = 0;
  std::array<std::byte*, kLanes> address;        // null: reads as zero, writes nothing
  std::array<std::byte*, kLanes> other_address;  // second element, or the LDS side of a load to LDS
  std::array<Lanes, 4> data;
};

// Instructions that one counter counts, oldest first.
class Outstanding {
 public:
  explicit Outstanding(int capacity) : slots_(static_cast<size_t>(capacity) + 1) {}
  Access& push();
  Access& oldest() { return slots_[first_]; }
  Access& newest() { return slots_[(first_ + static_cast<size_t>(size_) - 1) % slots_.size()]; }
  void pop_oldest();
  void pop_newest() { --size_; }
  int size() const { return size_; }
  int out_of_order() const;

 private:
  std::vector<Access> slots_;
  size_t first_ = 0;
  int size_ = 0;
};

class Wave {
 public:
  enum class State : uint8_t { kRunning, kAtBarrier, kEnded };

  Wave(LocalMemory* local, const MemoryMap* memory, Completion completion);
  // As a new wave; the one before has ended.
  void restart();

  uint64_t scalar64(int index) const {
    return scalars[index] | static_cast<uint64_t>(scalars[index + 1]) << 32;
  }
  void set_scalar64(int index, uint64_t value) {
    scalars[index] = static_cast<uint32_t>(value);
    scalars[index + 1] = static_cast<uint32_t>(value >> 32);
  }
  uint64_t exec() const { return scalar64(kExecRegister); }

  // A slot to fill for an instruction of this counter, then issue() to let it start.
  Access& global_access(const Op& op) { return access(&global_, op); }
  Access& local_access(const Op& op) { return access(&local_, op); }
  void issue_global(const Access& access) { issue(&global_, access); }
  void issue_local(const Access& access) { issue(&local_, access); }

  void wait(const WaitCounts& counts);
  // Throws Error if the instruction uses a register that an incomplete instruction loads.
  void check_registers(const Op& op) const {
    if (loading_ > 0) check_loading(op);
  }

  std::vector<Lanes> vectors;
  std::array<uint32_t, kScalarRegisters> scalars;
  bool scc = false;
  size_t next = 0;  // index of the next instruction
  State state = State::kRunning;
  uint32_t xcc_id = 0;
  uint64_t instructions = 0;  // executed
  LocalMemory* const local;
  const MemoryMap* const memory;

 private:
  Access& access(Outstanding* counter, const Op& op);
  void issue(Outstanding* counter, const Access& access);
  void complete_oldest(Outstanding* counter);
  void finish(const Access& access);
  void mark_loading(const Op& op, bool loading);
  void check_loading(const Op& op) const;

  const Completion completion_;
  Outstanding global_{WaitCounts::kVmMax};
  Outstanding local_{WaitCounts::kLgkmMax};
  std::bitset<kVectorRegisters> vectors_loading_;
  std::bitset<kScalarRegisters> scalars_loading_;
  int loading_ = 0;  // instructions that load a register
};

}  // namespace mla::amdgcn

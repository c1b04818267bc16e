// SPDX-License-Identifier: MIT
// Instructions of one counter complete in the order of issue, scalar memory excepted: of k
// outstanding instructions of which m are scalar loads, a wait for n is only sure of the k - n - m
// oldest others (LLVM's AMDGPU usage guide, memory model; the counters are the ISA manual's section
// on data dependency resolution).
#include "tests/amdgcn/wave.h"

#include <fmt/format.h>

#include "kernels/error.h"

namespace mla::amdgcn {
namespace {

// What a register holds before it is written: no useful address, a NaN as float.
constexpr uint32_t kUndefined = 0xFFF7DEAD;

}  // namespace

std::byte* LocalMemory::at(uint64_t offset, size_t bytes) {
  if (offset > bytes_.size() || bytes > bytes_.size() - offset) {
    throw Error(ErrorCode::kDevice,
                fmt::format("{} bytes at LDS offset {:#x} are outside of the {} bytes of LDS",
                            bytes,
                            offset,
                            bytes_.size()));
  }
  return bytes_.data() + offset;
}

Access& Outstanding::push() {
  ++size_;
  return newest();
}

void Outstanding::pop_oldest() {
  first_ = (first_ + 1) % slots_.size();
  --size_;
}

int Outstanding::out_of_order() const {
  int count = 0;
  for (int i = 0; i < size_; ++i) {
    count += slots_[(first_ + static_cast<size_t>(i)) % slots_.size()].out_of_order ? 1 : 0;
  }
  return count;
}

Wave::Wave(LocalMemory* local, const MemoryMap* memory, Completion completion)
    : vectors(kVectorRegisters), local(local), memory(memory), completion_(completion) {
  restart();
}

void Wave::restart() {
  for (Lanes& lanes : vectors) lanes.fill(kUndefined);
  scalars.fill(kUndefined);
  scc = false;
  next = 0;
  instructions = 0;
  state = State::kRunning;
}

Access& Wave::access(Outstanding* counter, const Op& op) {
  // A full counter stalls the next instruction.
  const int capacity = counter == &global_ ? WaitCounts::kVmMax : WaitCounts::kLgkmMax;
  if (counter->size() >= capacity) complete_oldest(counter);
  Access& access = counter->push();
  access.op = &op;
  access.out_of_order = false;
  access.mask = exec();
  return access;
}

void Wave::issue(Outstanding* counter, const Access& access) {
  if (completion_ == Completion::kLate) {
    mark_loading(*access.op, true);
    return;
  }
  access.complete(*this, access);
  counter->pop_newest();
}

void Wave::finish(const Access& access) {
  mark_loading(*access.op, false);
  access.complete(*this, access);
}

void Wave::complete_oldest(Outstanding* counter) {
  finish(counter->oldest());
  counter->pop_oldest();
}

void Wave::wait(const WaitCounts& counts) {
  while (global_.size() > counts.vm) complete_oldest(&global_);
  if (counts.lgkm > 0) {
    // Scalar loads may have overtaken: only local ones in front of every scalar load are sure.
    int sure = local_.size() - counts.lgkm - local_.out_of_order();
    for (; sure > 0 && !local_.oldest().out_of_order; --sure) complete_oldest(&local_);
    return;
  }
  while (local_.size() > 0) complete_oldest(&local_);
}

void Wave::mark_loading(const Op& op, bool loading) {
  if (op.loaded_operand < 0) return;
  loading_ += loading ? 1 : -1;
  const Source& loaded = op.operands[static_cast<size_t>(op.loaded_operand)];
  for (int i = loaded.index; i < loaded.index + loaded.count; ++i) {
    if (loaded.file == File::kVector) vectors_loading_[static_cast<size_t>(i)] = loading;
    if (loaded.file == File::kScalar) scalars_loading_[static_cast<size_t>(i)] = loading;
  }
}

void Wave::check_loading(const Op& op) const {
  for (size_t operand = 0; operand < op.operands.size(); ++operand) {
    const Source& source = op.operands[operand];
    if (!source.is_register()) continue;
    for (int i = source.index; i < source.index + source.count; ++i) {
      const auto index = static_cast<size_t>(i);
      const bool loading =
          source.file == File::kVector ? vectors_loading_[index] : scalars_loading_[index];
      if (!loading) continue;
      throw Error(ErrorCode::kDevice,
                  fmt::format("{} is used while its load may still be outstanding",
                              op.instruction->operands[operand].text));
    }
  }
}

}  // namespace mla::amdgcn

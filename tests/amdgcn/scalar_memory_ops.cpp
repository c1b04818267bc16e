// SPDX-License-Identifier: MIT
// Scalar loads: a 64-bit base or a buffer descriptor, plus a register and an immediate offset. They
// may complete in any order.
#include <cstring>
#include <string>

#include "kernels/error.h"
#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {
namespace {

void complete_load(Wave& wave, const Access& access) {
  const Source& target = access.op->operands[0];
  for (int i = 0; i < target.count; ++i) {
    uint32_t word = 0;
    if (access.address[i] != nullptr) std::memcpy(&word, access.address[i], sizeof word);
    wave.scalars[target.index + i] = word;
  }
}

uint64_t offset_of(const Wave& wave, const Op& op) {
  const Source& offset = op.operands[2];
  const uint64_t value = offset.file == File::kScalar ? wave.scalars[offset.index] : offset.bits;
  return value + static_cast<uint64_t>(op.offset);
}

// A dword at a time; beyond the end of a buffer a load gives 0.
template <bool kBuffer>
void load(Wave& wave, const Op& op) {
  Access& access = wave.local_access(op);
  access.complete = complete_load;
  access.out_of_order = true;
  const int base_register = op.operands[1].index;
  const uint64_t offset = offset_of(wave, op) & ~uint64_t{3};
  uint64_t base = wave.scalar64(base_register);
  uint64_t records = UINT64_MAX;
  if constexpr (kBuffer) {
    if (wave.scalars[base_register + 1] >> 16 != 0)
      throw Error(ErrorCode::kDevice, "a buffer with a stride");
    base &= 0xFFFFFFFFFFFF;
    records = wave.scalars[base_register + 2];
  }
  for (int i = 0; i < op.operands[0].count; ++i) {
    const uint64_t at = offset + static_cast<uint64_t>(4 * i);
    const bool inside = !kBuffer || at + 4 <= records;
    access.address[i] = inside ? wave.memory->at(base + at, 4, Permission::kReadOnly) : nullptr;
  }
  wave.issue_local(access);
}

}  // namespace

void add_scalar_memory_ops(OpTable* table) {
  for (const char* width : {"dword", "dwordx2", "dwordx4", "dwordx8", "dwordx16"}) {
    (*table)[std::string("s_load_") + width] = {load<false>, Family::kMemory, {}};
    (*table)[std::string("s_buffer_load_") + width] = {load<true>, Family::kMemory, {}};
  }
}

}  // namespace mla::amdgcn

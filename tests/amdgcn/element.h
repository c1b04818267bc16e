// SPDX-License-Identifier: MIT
// Moves what one lane loads or stores between memory and registers, in the sizes and halves that
// memory instructions know.
#pragma once

#include <bit>
#include <cstring>

#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {

// One element into a lane of consecutive registers.
inline void load_element(const MemoryForm& form,
                         const std::byte* from,
                         Lanes* registers,
                         int lane) {
  if (form.bytes >= 4) {
    for (int i = 0; i < form.bytes / 4; ++i) {
      uint32_t word = 0;
      if (from != nullptr) std::memcpy(&word, from + 4 * i, sizeof word);
      registers[i][lane] = word;
    }
    return;
  }
  uint32_t value = 0;
  if (from != nullptr) std::memcpy(&value, from, form.bytes);
  const int unused = 32 - 8 * form.bytes;
  if (form.sign_extend)
    value = static_cast<uint32_t>(static_cast<int32_t>(value << unused) >> unused);
  if (form.keep_other_half) {
    const uint32_t old = registers[0][lane];
    value = form.high_half ? (old & 0xFFFF) | value << 16 : (old & 0xFFFF0000) | (value & 0xFFFF);
  }
  registers[0][lane] = value;
}

inline void store_element(const MemoryForm& form, std::byte* to, const Lanes* registers, int lane) {
  if (to == nullptr) return;
  if (form.bytes >= 4) {
    for (int i = 0; i < form.bytes / 4; ++i) std::memcpy(to + 4 * i, &registers[i][lane], 4);
    return;
  }
  const uint32_t value = form.high_half ? registers[0][lane] >> 16 : registers[0][lane];
  std::memcpy(to, &value, form.bytes);
}

// Calls body(lane) for the lanes of the mask.
template <class F>
void for_each_lane(uint64_t mask, F&& body) {
  for (; mask != 0; mask &= mask - 1) body(std::countr_zero(mask));
}

}  // namespace mla::amdgcn

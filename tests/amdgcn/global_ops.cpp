// SPDX-License-Identifier: MIT
// Global memory by 64-bit addresses and through buffer descriptors: loads, stores, loads to LDS,
// atomic additions. An LDS address of a load to LDS is M0 + instruction offset + lane x size (CDNA3
// ISA manual, section 9.1.9; the offset moves both ends).
#include <string>

#include "kernels/error.h"
#include "tests/amdgcn/element.h"
#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

// Where the operands of an instruction are.
struct Places {
  size_t address = 0;
  size_t base = 1;  // scalar base or buffer descriptor
};

// global_*: a vector pair, or a scalar pair plus a 32-bit vector offset.
void set_global_addresses(
    Wave& wave, const Op& op, Places places, Permission wanted, Access* access) {
  const Source& base = op.operands[places.base];
  const auto offset = static_cast<uint64_t>(op.offset);
  if (base.file == File::kScalar) {
    const uint64_t start = wave.scalar64(base.index) + offset;
    const LaneValues<uint32_t> lane_offset(wave, op, places.address);
    for_each_lane(access->mask, [&](int lane) {
      access->address[lane] = wave.memory->at(start + lane_offset[lane], op.form.bytes, wanted);
    });
    return;
  }
  const LaneValues<uint64_t> address(wave, op, places.address);
  for_each_lane(access->mask, [&](int lane) {
    access->address[lane] = wave.memory->at(address[lane] + offset, op.form.bytes, wanted);
  });
}

// A raw buffer: word 0 and the lower half of word 1 are the base, word 2 the bytes it holds. What
// lies beyond reads as zero and is not written; a stride or swizzle is not supported.
void set_buffer_addresses(
    Wave& wave, const Op& op, Places places, Permission wanted, Access* access) {
  const int descriptor = op.operands[places.base].index;
  const uint64_t base = wave.scalar64(descriptor) & 0xFFFFFFFFFFFF;
  if (wave.scalars[descriptor + 1] >> 16 != 0)
    throw Error(ErrorCode::kDevice, "a buffer with a stride");
  const uint64_t records = wave.scalars[descriptor + 2];
  const Source& scalar = op.operands[places.base + 1];
  const uint64_t scalar_offset = scalar.file == File::kScalar ? wave.scalars[scalar.index]
                                                              : static_cast<uint32_t>(scalar.bits);
  uint32_t lane_offsets[kLanes] = {};
  if (op.offset_enabled) {
    const LaneValues<uint32_t> values(wave, op, places.address);
    for (int lane = 0; lane < kLanes; ++lane) lane_offsets[lane] = values[lane];
  }
  for_each_lane(access->mask, [&](int lane) {
    const uint64_t offset =
        uint64_t{lane_offsets[lane]} + static_cast<uint64_t>(op.offset) + scalar_offset;
    if (offset >= records) {
      access->address[lane] = nullptr;
      return;
    }
    if (offset + op.form.bytes > records)
      throw Error(ErrorCode::kDevice, "an access across the end of a buffer");
    access->address[lane] = wave.memory->at(base + offset, op.form.bytes, wanted);
  });
}

template <bool kBuffer>
void set_addresses(Wave& wave, const Op& op, Places places, Permission wanted, Access* access) {
  if constexpr (kBuffer) {
    set_buffer_addresses(wave, op, places, wanted, access);
  } else {
    set_global_addresses(wave, op, places, wanted, access);
  }
}

void complete_load(Wave& wave, const Access& access) {
  Lanes* registers = &wave.vectors[access.op->operands[0].index];
  for_each_lane(access.mask, [&](int lane) {
    load_element(access.op->form, access.address[lane], registers, lane);
  });
}

void complete_load_to_lds(Wave&, const Access& access) {
  for_each_lane(access.mask, [&](int lane) {
    if (access.address[lane] == nullptr) {
      std::memset(access.other_address[lane], 0, access.op->form.bytes);
    } else {
      std::memcpy(access.other_address[lane], access.address[lane], access.op->form.bytes);
    }
  });
}

void set_lds_addresses(Wave& wave, const Op& op, Access* access) {
  const uint64_t start = wave.scalars[kM0Register] + static_cast<uint64_t>(op.offset);
  if (start % 4 != 0) throw Error(ErrorCode::kDevice, "M0 of a load to LDS is not a multiple of 4");
  for_each_lane(access->mask, [&](int lane) {
    access->other_address[lane] =
        wave.local->at(start + static_cast<uint64_t>(lane) * op.form.bytes, op.form.bytes);
  });
}

template <bool kBuffer>
void load(Wave& wave, const Op& op) {
  Access& access = wave.global_access(op);
  const Places places = op.to_lds ? Places{0, 1} : Places{1, 2};
  set_addresses<kBuffer>(wave, op, places, Permission::kReadOnly, &access);
  if (op.to_lds) set_lds_addresses(wave, op, &access);
  access.complete = op.to_lds ? complete_load_to_lds : complete_load;
  wave.issue_global(access);
}

void complete_store(Wave&, const Access& access) {
  for_each_lane(access.mask, [&](int lane) {
    store_element(access.op->form, access.address[lane], access.data.data(), lane);
  });
}

// The data are in front of the address for buffers and behind it for global stores.
template <bool kBuffer>
void store(Wave& wave, const Op& op) {
  Access& access = wave.global_access(op);
  const size_t data = kBuffer ? 0 : 1;
  set_addresses<kBuffer>(
      wave, op, kBuffer ? Places{1, 2} : Places{0, 2}, Permission::kReadWrite, &access);
  for (int i = 0; i < op.operands[data].count; ++i)
    access.data[i] = wave.vectors[op.operands[data].index + i];
  access.complete = complete_store;
  wave.issue_global(access);
}

// Lane after lane; the value from before the addition where the instruction returns it.
template <class T>
void complete_add(Wave& wave, const Access& access) {
  for_each_lane(access.mask, [&](int lane) {
    T value;
    T addend;
    std::memcpy(&value, access.address[lane], sizeof value);
    std::memcpy(&addend, &access.data[0][lane], sizeof addend);
    if (access.op->returns)
      std::memcpy(&wave.vectors[access.op->operands[0].index][lane], &value, sizeof value);
    value += addend;
    std::memcpy(access.address[lane], &value, sizeof value);
  });
}

template <class T>
void atomic_add(Wave& wave, const Op& op) {
  Access& access = wave.global_access(op);
  const size_t first = op.returns ? 1 : 0;
  set_global_addresses(wave, op, {first, first + 2}, Permission::kReadWrite, &access);
  access.data[0] = wave.vectors[op.operands[first + 1].index];
  access.complete = complete_add<T>;
  wave.issue_global(access);
}

struct Width {
  const char* suffix;
  MemoryForm form;
};

}  // namespace

void add_global_ops(OpTable* table) {
  const Width loads[] = {
      {"ubyte", {.bytes = 1}},
      {"sbyte", {.bytes = 1, .sign_extend = true}},
      {"ushort", {.bytes = 2}},
      {"sshort", {.bytes = 2, .sign_extend = true}},
      {"ubyte_d16", {.bytes = 1, .keep_other_half = true}},
      {"ubyte_d16_hi", {.bytes = 1, .high_half = true, .keep_other_half = true}},
      {"short_d16", {.bytes = 2, .keep_other_half = true}},
      {"short_d16_hi", {.bytes = 2, .high_half = true, .keep_other_half = true}},
      {"dword", {.bytes = 4}},
      {"dwordx2", {.bytes = 8}},
      {"dwordx3", {.bytes = 12}},
      {"dwordx4", {.bytes = 16}},
  };
  for (const Width& width : loads) {
    (*table)[std::string("global_load_") + width.suffix] = {
        load<false>, Family::kMemory, width.form};
    (*table)[std::string("buffer_load_") + width.suffix] = {
        load<true>, Family::kMemory, width.form};
  }
  (*table)["global_load_lds_dword"] = {load<false>, Family::kMemory, {.bytes = 4}};
  (*table)["global_load_lds_dwordx4"] = {load<false>, Family::kMemory, {.bytes = 16}};
  const Width stores[] = {
      {"byte", {.bytes = 1}},
      {"byte_d16_hi", {.bytes = 1, .high_half = true}},
      {"short", {.bytes = 2}},
      {"short_d16_hi", {.bytes = 2, .high_half = true}},
      {"dword", {.bytes = 4}},
      {"dwordx2", {.bytes = 8}},
      {"dwordx3", {.bytes = 12}},
      {"dwordx4", {.bytes = 16}},
  };
  for (const Width& width : stores) {
    (*table)[std::string("global_store_") + width.suffix] = {
        store<false>, Family::kMemory, width.form};
    (*table)[std::string("buffer_store_") + width.suffix] = {
        store<true>, Family::kMemory, width.form};
  }
  (*table)["global_atomic_add"] = {atomic_add<uint32_t>, Family::kMemory, {.bytes = 4}};
  (*table)["global_atomic_add_f32"] = {atomic_add<float>, Family::kMemory, {.bytes = 4}};
}

}  // namespace mla::amdgcn

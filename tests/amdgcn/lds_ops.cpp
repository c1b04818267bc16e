// SPDX-License-Identifier: MIT
// Local memory: reads and writes of all widths, the transposing read (gfx950), and the lane
// permutations that go through the same unit and counter.
#include <string>

#include "kernels/error.h"
#include "tests/amdgcn/element.h"
#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

constexpr size_t kRegistersPerElement[] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4};

// Offsets of the first and, for the two-element forms, the second element of a lane.
void set_addresses(Wave& wave, const Op& op, size_t address_operand, Access* access) {
  const LaneValues<uint32_t> base(wave, op, address_operand);
  for_each_lane(access->mask, [&](int lane) {
    if (op.form.elements == 1) {
      access->address[lane] =
          wave.local->at(base[lane] + static_cast<uint64_t>(op.offset), op.form.bytes);
      return;
    }
    const auto at = [&](int i) {
      return wave.local->at(
          uint64_t{base[lane]} + static_cast<uint64_t>(op.offsets[i]) * op.form.stride_bytes,
          op.form.bytes);
    };
    access->address[lane] = at(0);
    access->other_address[lane] = at(1);
  });
}

void complete_read(Wave& wave, const Access& access) {
  const MemoryForm& form = access.op->form;
  Lanes* registers = &wave.vectors[access.op->operands[0].index];
  for_each_lane(access.mask, [&](int lane) {
    load_element(form, access.address[lane], registers, lane);
    if (form.elements == 2) {
      load_element(
          form, access.other_address[lane], registers + kRegistersPerElement[form.bytes], lane);
    }
  });
}

void read(Wave& wave, const Op& op) {
  Access& access = wave.local_access(op);
  access.complete = complete_read;
  set_addresses(wave, op, 1, &access);
  wave.issue_local(access);
}

void complete_write(Wave&, const Access& access) {
  const MemoryForm& form = access.op->form;
  for_each_lane(access.mask, [&](int lane) {
    store_element(form, access.address[lane], access.data.data(), lane);
    if (form.elements == 2) {
      store_element(form,
                    access.other_address[lane],
                    access.data.data() + kRegistersPerElement[form.bytes],
                    lane);
    }
  });
}

void write(Wave& wave, const Op& op) {
  Access& access = wave.local_access(op);
  access.complete = complete_write;
  set_addresses(wave, op, 0, &access);
  const size_t registers = kRegistersPerElement[op.form.bytes];
  for (size_t element = 0; element < op.form.elements; ++element) {
    for (size_t i = 0; i < registers; ++i) {
      access.data[element * registers + i] =
          wave.vectors[static_cast<size_t>(op.operands[1 + element].index) + i];
    }
  }
  wave.issue_local(access);
}

// DS_READ_B64_TR_B16: every 16 lanes read a tile of 4 rows of 16 values, four lanes a row, four
// values a lane; each of them gets one column of the tile (CDNA4 ISA manual, section 11.4: MFMA
// transpose load from LDS).
void complete_transposed_read(Wave& wave, const Access& access) {
  const int first = access.op->operands[0].index;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane & ~15;
    const int column = lane & 15;
    uint16_t values[4];
    for (int row = 0; row < 4; ++row) {
      std::memcpy(&values[row], access.address[group + 4 * row + column / 4] + 2 * (column % 4), 2);
    }
    for (int i = 0; i < 2; ++i) {
      wave.vectors[first + i][lane] = values[2 * i] | static_cast<uint32_t>(values[2 * i + 1])
                                                          << 16;
    }
  }
}

void read_transposed(Wave& wave, const Op& op) {
  if (wave.exec() != ~uint64_t{0})
    throw Error(ErrorCode::kDevice, "a transposing read with inactive lanes");
  Access& access = wave.local_access(op);
  access.complete = complete_transposed_read;
  set_addresses(wave, op, 1, &access);
  wave.issue_local(access);
}

void complete_permutation(Wave& wave, const Access& access) {
  Lanes& target = wave.vectors[access.op->operands[0].index];
  for_each_lane(access.mask, [&](int lane) { target[lane] = access.data[0][lane]; });
}

// Each lane fetches from the lane its address names, in bytes; an inactive one gives 0.
void fetch_from_lane(Wave& wave, const Op& op) {
  Access& access = wave.local_access(op);
  access.complete = complete_permutation;
  const LaneValues<uint32_t> address(wave, op, 1);
  const LaneValues<uint32_t> value(wave, op, 2);
  for (int lane = 0; lane < kLanes; ++lane) {
    const int from =
        static_cast<int>((address[lane] + static_cast<uint64_t>(op.offset)) / 4 % kLanes);
    access.data[0][lane] = (access.mask >> from & 1) != 0 ? value[from] : 0;
  }
  wave.issue_local(access);
}

// Each lane sends to the lane its address names; of several senders the highest lane wins; the rest
// get 0.
void send_to_lane(Wave& wave, const Op& op) {
  Access& access = wave.local_access(op);
  access.complete = complete_permutation;
  const LaneValues<uint32_t> address(wave, op, 1);
  const LaneValues<uint32_t> value(wave, op, 2);
  access.data[0].fill(0);
  for_each_lane(access.mask, [&](int lane) {
    access.data[0][(address[lane] + static_cast<uint64_t>(op.offset)) / 4 % kLanes] = value[lane];
  });
  wave.issue_local(access);
}

struct NamedForm {
  const char* name;
  MemoryForm form;
};

void add_reads(OpTable* table) {
  const NamedForm forms[] = {
      {"ds_read_u8", {.bytes = 1}},
      {"ds_read_i8", {.bytes = 1, .sign_extend = true}},
      {"ds_read_u16", {.bytes = 2}},
      {"ds_read_i16", {.bytes = 2, .sign_extend = true}},
      {"ds_read_u8_d16", {.bytes = 1, .keep_other_half = true}},
      {"ds_read_u8_d16_hi", {.bytes = 1, .high_half = true, .keep_other_half = true}},
      {"ds_read_u16_d16", {.bytes = 2, .keep_other_half = true}},
      {"ds_read_u16_d16_hi", {.bytes = 2, .high_half = true, .keep_other_half = true}},
      {"ds_read_b32", {.bytes = 4}},
      {"ds_read_b64", {.bytes = 8}},
      {"ds_read_b96", {.bytes = 12}},
      {"ds_read_b128", {.bytes = 16}},
      {"ds_read2_b32", {.bytes = 4, .elements = 2, .stride_bytes = 4}},
      {"ds_read2_b64", {.bytes = 8, .elements = 2, .stride_bytes = 8}},
      {"ds_read2st64_b32", {.bytes = 4, .elements = 2, .stride_bytes = 64 * 4}},
      {"ds_read2st64_b64", {.bytes = 8, .elements = 2, .stride_bytes = 64 * 8}},
  };
  for (const NamedForm& named : forms) (*table)[named.name] = {read, Family::kMemory, named.form};
  (*table)["ds_read_b64_tr_b16"] = {read_transposed, Family::kMemory, {.bytes = 8}};
}

void add_writes(OpTable* table) {
  const NamedForm forms[] = {
      {"ds_write_b8", {.bytes = 1}},
      {"ds_write_b16", {.bytes = 2}},
      {"ds_write_b8_d16_hi", {.bytes = 1, .high_half = true}},
      {"ds_write_b16_d16_hi", {.bytes = 2, .high_half = true}},
      {"ds_write_b32", {.bytes = 4}},
      {"ds_write_b64", {.bytes = 8}},
      {"ds_write_b96", {.bytes = 12}},
      {"ds_write_b128", {.bytes = 16}},
      {"ds_write2_b32", {.bytes = 4, .elements = 2, .stride_bytes = 4}},
      {"ds_write2_b64", {.bytes = 8, .elements = 2, .stride_bytes = 8}},
      {"ds_write2st64_b32", {.bytes = 4, .elements = 2, .stride_bytes = 64 * 4}},
      {"ds_write2st64_b64", {.bytes = 8, .elements = 2, .stride_bytes = 64 * 8}},
  };
  for (const NamedForm& named : forms) (*table)[named.name] = {write, Family::kMemory, named.form};
}

}  // namespace

void add_lds_ops(OpTable* table) {
  add_reads(table);
  add_writes(table);
  (*table)["ds_bpermute_b32"] = {fetch_from_lane, Family::kMemory, {.bytes = 4}};
  (*table)["ds_permute_b32"] = {send_to_lane, Family::kMemory, {.bytes = 4}};
}

}  // namespace mla::amdgcn

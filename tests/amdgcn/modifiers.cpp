// SPDX-License-Identifier: MIT
// DPP controls are those of the CDNA3 ISA manual, section 12 (data parallel primitives); a row is
// 16 lanes.
#include "tests/amdgcn/modifiers.h"

#include <string_view>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

constexpr int kRow = 16;

// Where lane reads under one DPP control; -1: nowhere.
int row_shift(int lane, int by) {
  const int from = lane % kRow + by;
  return from < 0 || from >= kRow ? -1 : lane - lane % kRow + from;
}

int dpp_lane(const Instruction& instruction, std::string_view control, int lane) {
  const int row = lane - lane % kRow;
  const auto value = static_cast<int>(instruction.value_of(control).value_or(0));
  if (control == "quad_perm")
    return lane / 4 * 4 + instruction.list_of(control)[static_cast<size_t>(lane % 4)];
  if (control == "row_shl") return row_shift(lane, value);
  if (control == "row_shr") return row_shift(lane, -value);
  if (control == "row_ror") return row + (lane % kRow + kRow - value) % kRow;
  if (control == "row_mirror") return row + kRow - 1 - lane % kRow;
  if (control == "row_half_mirror") return lane / 8 * 8 + 7 - lane % 8;
  if (control == "row_newbcast") return row + value;
  // The last lane of the row in front; lane 31 to the upper half of the wave.
  if (control == "row_bcast") return value == 15 ? row - 1 : lane < 32 ? -1 : 31;
  throw Error(ErrorCode::kUsage, "unknown DPP control " + in_quotes(control));
}

std::string_view dpp_control(const Instruction& instruction) {
  for (const char* name : {"quad_perm",
                           "row_shl",
                           "row_shr",
                           "row_ror",
                           "row_mirror",
                           "row_half_mirror",
                           "row_newbcast",
                           "row_bcast"}) {
    if (instruction.has(name)) return name;
  }
  throw Error(ErrorCode::kUsage, "DPP without a known control: " + in_quotes(instruction.text));
}

std::shared_ptr<const Dpp> decode_dpp(const Instruction& instruction) {
  auto dpp = std::make_shared<Dpp>();
  const std::string_view control = dpp_control(instruction);
  const int64_t rows = instruction.value_of("row_mask").value_or(0xF);
  const int64_t banks = instruction.value_of("bank_mask").value_or(0xF);
  for (int lane = 0; lane < kLanes; ++lane) {
    dpp->lane[static_cast<size_t>(lane)] =
        static_cast<int8_t>(dpp_lane(instruction, control, lane));
    const bool writable = (rows >> lane / kRow & 1) != 0 && (banks >> lane % kRow / 4 & 1) != 0;
    if (writable) dpp->writable |= uint64_t{1} << lane;
  }
  dpp->zero_invalid = instruction.has("bound_ctrl");
  return dpp;
}

Sdwa::Part decode_part(std::string_view text) {
  if (text.empty() || text == "DWORD") return {0, 32};
  if (text == "WORD_0") return {0, 16};
  if (text == "WORD_1") return {16, 16};
  if (starts_with(text, "BYTE_") && text.size() == 6 && text[5] >= '0' && text[5] <= '3') {
    return {static_cast<uint8_t>(8 * (text[5] - '0')), 8};
  }
  throw Error(ErrorCode::kUsage, "unknown part of a register " + in_quotes(text));
}

std::shared_ptr<const Sdwa> decode_sdwa(const Instruction& instruction) {
  auto sdwa = std::make_shared<Sdwa>();
  sdwa->destination = decode_part(instruction.text_of("dst_sel"));
  sdwa->sources = {decode_part(instruction.text_of("src0_sel")),
                   decode_part(instruction.text_of("src1_sel"))};
  const std::string_view rest = instruction.text_of("dst_unused");
  if (rest == "UNUSED_SEXT") throw Error(ErrorCode::kUsage, "UNUSED_SEXT is not supported");
  sdwa->keep_rest = rest == "UNUSED_PRESERVE";
  return sdwa;
}

void decode_bits(const Instruction& instruction,
                 std::string_view modifier,
                 std::array<bool, 3>* bits) {
  const std::vector<int> values = instruction.list_of(modifier);
  for (size_t i = 0; i < values.size() && i < bits->size(); ++i) (*bits)[i] = values[i] != 0;
}

// What each family may carry; cache hints change nothing here.
bool is_known(std::string_view name, Family family, Encoding encoding) {
  const auto one_of = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view candidate : names) {
      if (name == candidate) return true;
    }
    return false;
  };
  switch (family) {
    case Family::kMemory:
      return one_of({"offset", "offset0", "offset1", "offen", "lds", "sc0", "sc1", "nt", "glc"});
    case Family::kPacked:
      return one_of({"op_sel", "op_sel_hi", "neg_lo", "neg_hi"});
    case Family::kScalar:
      return one_of({"vmcnt", "expcnt", "lgkmcnt", "sc0", "sc1", "&"});
    case Family::kMatrix:
      return false;
    case Family::kVector:
      break;
  }
  if (encoding == Encoding::kSdwa) return one_of({"dst_sel", "dst_unused", "src0_sel", "src1_sel"});
  if (name == "bitop3") return true;
  return encoding == Encoding::kDpp;  // decode_dpp refuses what it does not know
}

}  // namespace

void decode_modifiers(const Instruction& instruction, Family family, Op* op) {
  for (const std::string& modifier : instruction.modifiers) {
    const std::string_view name =
        std::string_view(modifier).substr(0, modifier.find_first_of(":("));
    if (!is_known(name, family, instruction.encoding)) {
      throw Error(ErrorCode::kUsage, "unsupported modifier " + in_quotes(modifier));
    }
  }
  op->offset = instruction.value_of("offset").value_or(0);
  op->offsets = {static_cast<int>(instruction.value_of("offset0").value_or(0)),
                 static_cast<int>(instruction.value_of("offset1").value_or(0))};
  op->to_lds = is_load_to_lds(instruction);
  op->offset_enabled = instruction.has("offen");
  op->returns = instruction.has("sc0");
  op->truth_table = static_cast<uint8_t>(instruction.value_of("bitop3").value_or(0));
  decode_bits(instruction, "op_sel", &op->select_low);
  decode_bits(instruction, "op_sel_hi", &op->select_high);
  decode_bits(instruction, "neg_lo", &op->negate_low);
  decode_bits(instruction, "neg_hi", &op->negate_high);
  if (instruction.encoding == Encoding::kDpp) op->dpp = decode_dpp(instruction);
  if (instruction.encoding == Encoding::kSdwa) op->sdwa = decode_sdwa(instruction);
  if (const auto wait = wait_counts(instruction)) op->wait = *wait;
}

}  // namespace mla::amdgcn

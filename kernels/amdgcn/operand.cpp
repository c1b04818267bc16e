// SPDX-License-Identifier: MIT
#include "kernels/amdgcn/operand.h"

#include <charconv>
#include <cstdlib>
#include <string>

#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

struct NamedRegister {
  std::string_view name;
  int first;
  int count;
};
constexpr NamedRegister kNamedRegisters[] = {
    {"flat_scratch", 102, 2},
    {"flat_scratch_lo", 102, 1},
    {"flat_scratch_hi", 103, 1},
    {"xnack_mask", 104, 2},
    {"xnack_mask_lo", 104, 1},
    {"xnack_mask_hi", 105, 1},
    {"vcc", kVccRegister, 2},
    {"vcc_lo", 106, 1},
    {"vcc_hi", 107, 1},
    {"m0", kM0Register, 1},
    {"exec", kExecRegister, 2},
    {"exec_lo", 126, 1},
    {"exec_hi", 127, 1},
};

// v7, s[4:5], a[0:15], vcc.
bool parse_register(std::string_view text, Operand* operand) {
  for (const NamedRegister& named : kNamedRegisters) {
    if (text != named.name) continue;
    operand->kind = OperandKind::kScalar;
    operand->first = named.first;
    operand->count = named.count;
    return true;
  }
  if (text.size() < 2) return false;
  const char file = text[0];
  if (file != 'v' && file != 's' && file != 'a') return false;
  std::string_view range = text.substr(1);
  int64_t first = 0;
  int64_t last = 0;
  if (range.front() == '[' && range.back() == ']') {
    range = range.substr(1, range.size() - 2);
    const size_t colon = range.find(':');
    if (colon == std::string_view::npos || !parse_int(range.substr(0, colon), &first) ||
        !parse_int(range.substr(colon + 1), &last) || last < first) {
      return false;
    }
  } else {
    if (!parse_int(range, &first)) return false;
    last = first;
  }
  const int64_t limit = file == 's' ? 102 : 256;
  if (first < 0 || last >= limit) return false;
  operand->kind = file == 'v'   ? OperandKind::kVector
                  : file == 'a' ? OperandKind::kAccumulator
                                : OperandKind::kScalar;
  operand->first = static_cast<int>(first);
  operand->count = static_cast<int>(last - first + 1);
  return true;
}

bool parse_float(const std::string& text, double* value) {
  if (text.find('.') == std::string::npos) return false;
  char* end = nullptr;
  *value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

}  // namespace

bool parse_number(std::string_view text, int64_t* value) {
  const bool negative = starts_with(text, "-");
  std::string_view digits = negative ? text.substr(1) : text;
  const int base = starts_with(digits, "0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return false;
  *value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool strip_call(std::string_view name, std::string_view* text) {
  if (!starts_with(*text, name) || text->size() < name.size() + 2 || (*text)[name.size()] != '(' ||
      text->back() != ')') {
    return false;
  }
  *text = text->substr(name.size() + 1, text->size() - name.size() - 2);
  return true;
}

Operand parse_operand(std::string_view text) {
  Operand operand;
  operand.text = std::string(text);
  if (parse_number(text, &operand.integer)) {
    operand.kind = OperandKind::kInteger;
    return operand;
  }
  if (parse_float(operand.text, &operand.number)) {
    operand.kind = OperandKind::kFloat;
    return operand;
  }
  std::string_view rest = text;
  if (strip_call("sext", &rest)) operand.sign_extend = true;
  if (strip_call("neg", &rest)) operand.negate = true;
  if (starts_with(rest, "-")) {
    operand.negate = true;
    rest.remove_prefix(1);
  }
  if (strip_call("abs", &rest)) operand.absolute = true;
  if (rest.size() > 2 && rest.front() == '|' && rest.back() == '|') {
    operand.absolute = true;
    rest = rest.substr(1, rest.size() - 2);
  }
  if (parse_register(rest, &operand)) return operand;
  if (parse_number(rest, &operand.integer)) {
    operand.kind = OperandKind::kInteger;
  } else if (parse_float(std::string(rest), &operand.number)) {
    operand.kind = OperandKind::kFloat;
  }
  return operand;
}

}  // namespace mla::amdgcn

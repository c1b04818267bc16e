// SPDX-License-Identifier: MIT
// The syntax is LLVM's AMDGPU assembler syntax: operands separated by commas, modifiers behind the
// last operand separated by blanks.
#include "kernels/amdgcn/instruction.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// Decimal or 0x, with a sign.
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

// "abs(v1)" to "v1"; true if the text had that form.
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

// At commas outside of parentheses and brackets.
std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  const std::string_view last = trimmed(text.substr(begin));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

// Blanks inside parentheses belong to the word: "hwreg(HW_REG_MODE, 4, 2)".
std::string_view next_operand_word(std::string_view* rest) {
  *rest = trimmed(*rest);
  int depth = 0;
  size_t i = 0;
  for (; i < rest->size() && (depth > 0 || (*rest)[i] != ' '); ++i) {
    if ((*rest)[i] == '(') ++depth;
    if ((*rest)[i] == ')') --depth;
  }
  const std::string_view word = rest->substr(0, i);
  rest->remove_prefix(i);
  return word;
}

// "offset:16", "op_sel:[0,1]"; not "s[0:1]" or "-v[2:3]".
bool is_modifier(std::string_view word) {
  const size_t end = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_");
  return end != std::string_view::npos && word[end] == ':';
}

void parse_operands(std::string_view text, Instruction* instruction) {
  const bool words_only = instruction->mnemonic == "s_waitcnt";
  for (std::string_view part : split_operands(text)) {
    std::string_view word = next_operand_word(&part);
    if (words_only || is_modifier(word)) {
      instruction->modifiers.emplace_back(word);
    } else {
      instruction->operands.push_back(parse_operand(word));
    }
    while (!(word = next_operand_word(&part)).empty()) instruction->modifiers.emplace_back(word);
  }
}

void split_encoding(std::string_view printed, Instruction* instruction) {
  constexpr std::pair<std::string_view, Encoding> kSuffixes[] = {
      {"_e32", Encoding::kE32},
      {"_e64", Encoding::kE64},
      {"_dpp", Encoding::kDpp},
      {"_sdwa", Encoding::kSdwa},
  };
  for (const auto& [suffix, encoding] : kSuffixes) {
    if (!ends_with(printed, suffix)) continue;
    printed.remove_suffix(suffix.size());
    instruction->encoding = encoding;
    break;
  }
  instruction->mnemonic = std::string(printed);
}

// The simm16 of a branch counts dwords from the next instruction.
std::optional<uint64_t> branch_target(const Instruction& instruction) {
  if (instruction.mnemonic != "s_branch" && !starts_with(instruction.mnemonic, "s_cbranch_")) {
    return std::nullopt;
  }
  if (instruction.operands.empty() || instruction.operands[0].kind != OperandKind::kInteger) {
    throw Error(ErrorCode::kUsage, "branch without a distance: " + quoted(instruction.text));
  }
  const auto dwords = static_cast<int16_t>(instruction.operands[0].integer);
  return instruction.address + 4 + static_cast<uint64_t>(int64_t{dwords} * 4);
}

}  // namespace

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool Instruction::has(std::string_view modifier) const {
  for (const std::string& candidate : modifiers) {
    if (starts_with(candidate, modifier) &&
        (candidate.size() == modifier.size() || candidate[modifier.size()] == ':')) {
      return true;
    }
  }
  return false;
}

std::optional<int64_t> Instruction::value_of(std::string_view modifier) const {
  for (const std::string& candidate : modifiers) {
    if (!starts_with(candidate, modifier) || candidate.size() <= modifier.size() + 1) continue;
    if (candidate[modifier.size()] != ':') continue;
    int64_t value = 0;
    if (parse_number(std::string_view(candidate).substr(modifier.size() + 1), &value)) return value;
  }
  return std::nullopt;
}

std::vector<int> Instruction::list_of(std::string_view modifier) const {
  std::vector<int> values;
  for (const std::string& candidate : modifiers) {
    const std::string prefix = std::string(modifier) + ":[";
    if (!starts_with(candidate, prefix) || candidate.back() != ']') continue;
    const auto inside =
        std::string_view(candidate).substr(prefix.size(), candidate.size() - prefix.size() - 1);
    for (const std::string_view part : split_operands(inside)) {
      int64_t value = 0;
      if (!parse_int(part, &value)) {
        throw Error(ErrorCode::kUsage, "not a list of numbers: " + quoted(candidate));
      }
      values.push_back(static_cast<int>(value));
    }
  }
  return values;
}

std::optional<Instruction> parse_instruction(std::string_view line) {
  const size_t comment = line.find("// ");
  if (comment == std::string_view::npos || line.empty() || line[0] != '\t') return std::nullopt;
  std::string_view place = line.substr(comment + 3);
  const size_t colon = place.find(':');
  Instruction instruction;
  const std::string_view digits = place.substr(0, colon);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), instruction.address, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  instruction.text = std::string(trimmed(line.substr(0, comment)));
  std::string_view rest = instruction.text;
  split_encoding(next_word(&rest), &instruction);
  parse_operands(rest, &instruction);
  instruction.branch_target = branch_target(instruction);
  return instruction;
}

std::optional<WaitCounts> wait_counts(const Instruction& instruction) {
  if (instruction.mnemonic != "s_waitcnt") return std::nullopt;
  WaitCounts counts;
  for (const std::string& word : instruction.modifiers) {
    std::string_view inside = word;
    int64_t value = 0;
    if (strip_call("vmcnt", &inside) && parse_int(inside, &value)) {
      counts.vm = static_cast<int>(value);
    } else if (strip_call("lgkmcnt", &inside) && parse_int(inside, &value)) {
      counts.lgkm = static_cast<int>(value);
    } else if (word != "&" && !strip_call("expcnt", &inside)) {
      throw Error(ErrorCode::kUsage, "cannot read " + quoted(instruction.text));
    }
  }
  return counts;
}

bool is_load_to_lds(const Instruction& instruction) {
  return starts_with(instruction.mnemonic, "global_load_lds_") ||
         ((starts_with(instruction.mnemonic, "buffer_load_") ||
           starts_with(instruction.mnemonic, "global_load_")) &&
          instruction.has("lds"));
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
// The syntax is LLVM's AMDGPU assembler syntax: operands separated by commas, modifiers behind the
// last operand separated by blanks.
#include "kernels/amdgcn/instruction.h"

#include <charconv>
#include <utility>

#include "kernels/amdgcn/operand.h"
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
    throw Error(ErrorCode::kUsage, "branch without a distance: " + in_quotes(instruction.text));
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

std::string_view Instruction::text_of(std::string_view modifier) const {
  for (const std::string& candidate : modifiers) {
    if (starts_with(candidate, modifier) && candidate.size() > modifier.size() &&
        candidate[modifier.size()] == ':') {
      return std::string_view(candidate).substr(modifier.size() + 1);
    }
  }
  return {};
}

std::optional<int64_t> Instruction::value_of(std::string_view modifier) const {
  int64_t value = 0;
  if (!parse_number(text_of(modifier), &value)) return std::nullopt;
  return value;
}

std::vector<int> Instruction::list_of(std::string_view modifier) const {
  std::string_view list = text_of(modifier);
  std::vector<int> values;
  if (list.empty()) return values;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') {
    throw Error(ErrorCode::kUsage, "not a list: " + in_quotes(list));
  }
  for (const std::string_view part : split_operands(list.substr(1, list.size() - 2))) {
    int64_t value = 0;
    if (!parse_int(part, &value)) {
      throw Error(ErrorCode::kUsage, "not a list of numbers: " + in_quotes(list));
    }
    values.push_back(static_cast<int>(value));
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
      throw Error(ErrorCode::kUsage, "cannot read " + in_quotes(instruction.text));
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

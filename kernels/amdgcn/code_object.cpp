// SPDX-License-Identifier: MIT
// The disassembly is a sequence of symbols: "NAME.kd" is a kernel descriptor printed as assembler
// directives, NAME its code.
#include "kernels/amdgcn/code_object.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "kernels/amdgcn/metadata.h"
#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

// "0000000000001b00 <vadd>:" to "vadd"; empty for any other line.
std::string_view symbol_of(std::string_view line) {
  const size_t open = line.find('<');
  if (open == std::string_view::npos || line.empty() || line[0] == '\t') return {};
  if (line.size() < 2 || line.substr(line.size() - 2) != ">:") return {};
  return line.substr(open + 1, line.size() - open - 3);
}

class DisassemblyReader {
 public:
  explicit DisassemblyReader(CodeObject* code_object) {
    for (Kernel& kernel : code_object->kernels) by_name_[kernel.metadata.name] = &kernel;
  }

  void line(std::string_view text) {
    if (const std::string_view symbol = symbol_of(text); !symbol.empty()) {
      enter(symbol);
      return;
    }
    if (kernel_ == nullptr) return;
    if (in_descriptor_) {
      directive(text);
    } else if (std::optional<Instruction> instruction = parse_instruction(text)) {
      kernel_->instructions.push_back(*std::move(instruction));
    }
  }

 private:
  void enter(std::string_view symbol) {
    constexpr std::string_view kDescriptorSuffix = ".kd";
    const size_t length = symbol.size() - kDescriptorSuffix.size();
    in_descriptor_ =
        symbol.size() > kDescriptorSuffix.size() && symbol.substr(length) == kDescriptorSuffix;
    const auto found =
        by_name_.find(std::string(in_descriptor_ ? symbol.substr(0, length) : symbol));
    kernel_ = found == by_name_.end() ? nullptr : found->second;
  }

  void directive(std::string_view text) {
    constexpr std::string_view kPrefix = ".amdhsa_";
    const std::string_view name = next_word(&text);
    int64_t value = 0;
    if (!starts_with(name, kPrefix) || !parse_int(next_word(&text), &value)) return;
    kernel_->descriptor[std::string(name.substr(kPrefix.size()))] = value;
  }

  std::map<std::string, Kernel*> by_name_;
  Kernel* kernel_ = nullptr;
  bool in_descriptor_ = false;
};

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string output_of(const std::string& command) {
  const auto close = [](FILE* pipe) { pclose(pipe); };
  std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  if (pipe == nullptr) throw Error(ErrorCode::kUsage, "cannot run " + command);
  std::string text;
  char buffer[65536];
  size_t count = 0;
  while ((count = fread(buffer, 1, sizeof buffer, pipe.get())) > 0) text.append(buffer, count);
  if (pclose(pipe.release()) != 0) throw Error(ErrorCode::kUsage, "failed: " + command);
  return text;
}

}  // namespace

const Kernel& CodeObject::kernel(std::string_view name) const {
  for (const Kernel& kernel : kernels) {
    if (kernel.metadata.name == name) return kernel;
  }
  throw Error(ErrorCode::kUsage, "no kernel " + in_quotes(name) + " in the code object");
}

CodeObject parse_code_object(std::string_view disassembly, std::string_view notes) {
  CodeObject code_object;
  Metadata metadata = parse_metadata(notes);
  code_object.target = std::move(metadata.target);
  for (KernelMetadata& kernel : metadata.kernels) {
    code_object.kernels.push_back(Kernel{std::move(kernel), {}, {}});
  }
  DisassemblyReader reader(&code_object);
  while (!disassembly.empty()) reader.line(next_line(&disassembly));
  for (const Kernel& kernel : code_object.kernels) {
    if (kernel.instructions.empty() || kernel.descriptor.empty()) {
      throw Error(ErrorCode::kUsage,
                  "the disassembly lacks code or descriptor of " + in_quotes(kernel.metadata.name));
    }
  }
  return code_object;
}

CodeObject read_code_object(const std::string& path, const LlvmTools& tools) {
  const std::string file = shell_word(path);
  return parse_code_object(output_of(shell_word(tools.objdump) + " -D -j .rodata -j .text " + file),
                           output_of(shell_word(tools.readobj) + " --notes " + file));
}

std::vector<Instruction> read_instructions(const std::string& path, const LlvmTools& tools) {
  const std::string text = output_of(shell_word(tools.objdump) + " -d " + shell_word(path));
  std::vector<Instruction> instructions;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (auto instruction = parse_instruction(next_line(&rest))) {
      instructions.push_back(*std::move(instruction));
    }
  }
  return instructions;
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
#include "tests/amdgcn/one_wave.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "kernels/amdgcn/code_object.h"
#include "kernels/error.h"
#include "tests/amdgcn/covered.h"
#include "tests/support/temporary_directory.h"

namespace mla::amdgcn {

std::vector<std::vector<Instruction>> assemble(const std::vector<std::string>& texts,
                                               const std::string& target) {
  const testing::TemporaryDirectory directory;
  const std::string source = directory.file("text.s");
  const std::string object = directory.file("text.o");
  std::ofstream file(source);
  for (const std::string& text : texts) file << text << "\ns_endpgm\n";
  file.close();
  const std::string command = std::string(MLA_AMDGCN_CLANG) +
                              " -target amdgcn-amd-amdhsa -mcpu=" + target + " -x assembler -c " +
                              source + " -o " + object;
  if (std::system(command.c_str()) != 0)
    throw Error(ErrorCode::kUsage, "does not assemble: " + texts.front());
  std::vector<std::vector<Instruction>> pieces(1);
  for (Instruction& instruction : read_instructions(object, {MLA_LLVM_OBJDUMP, MLA_LLVM_READOBJ})) {
    const bool is_end = instruction.mnemonic == "s_endpgm";
    pieces.back().push_back(std::move(instruction));
    if (is_end) pieces.emplace_back();
  }
  pieces.pop_back();
  return pieces;
}

OneWave::OneWave(Completion completion, const std::string& target)
    : local(kLocalBytes), wave(&local, &memory, completion), target_(target) {
  set_exec(~uint64_t{0});
}

void OneWave::run(std::vector<Instruction> instructions) {
  instructions_ = std::move(instructions);
  ops_ = decode(instructions_);
  for (const Instruction& instruction : instructions_)
    covered_mnemonics().insert(instruction.mnemonic);
  wave.next = 0;
  resume();
}

void OneWave::resume() {
  wave.state = Wave::State::kRunning;
  run_wave(ops_, &wave);
}

float OneWave::f(int index, int lane) const {
  return std::bit_cast<float>(wave.vectors[static_cast<size_t>(index)][static_cast<size_t>(lane)]);
}

void OneWave::set_v64(int index, uint64_t value) {
  v(index).fill(static_cast<uint32_t>(value));
  v(index + 1).fill(static_cast<uint32_t>(value >> 32));
}

void OneWave::set_address(int index, const void* address) {
  set_v64(index, reinterpret_cast<uint64_t>(address));
}

}  // namespace mla::amdgcn

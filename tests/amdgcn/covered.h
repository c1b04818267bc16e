// SPDX-License-Identifier: MIT
// The mnemonics that tests of single instructions have executed and compared. The last test case
// holds them against the emulator's table, so that no instruction is known but untested.
#pragma once

#include <set>
#include <string>

namespace mla::amdgcn {

inline std::set<std::string>& covered_mnemonics() {
  static std::set<std::string> covered;
  return covered;
}

}  // namespace mla::amdgcn

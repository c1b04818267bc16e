// SPDX-License-Identifier: MIT
// A number that is equal for equal data: FNV-1a over 64-bit words, with its published constants.
#pragma once

#include <cstdint>
#include <string_view>

namespace mla::policy {

class Fingerprint {
 public:
  void add(uint64_t word) { value_ = (value_ ^ word) * 0x100000001B3ull; }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<uint64_t>(static_cast<unsigned char>(c)));
  }
  // Multiplication carries upwards only: the high bits are folded down at the end.
  uint64_t value() const { return value_ ^ value_ >> 32; }

 private:
  uint64_t value_ = 0xCBF29CE484222325ull;
};

}  // namespace mla::policy

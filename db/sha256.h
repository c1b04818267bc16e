// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), for the content hash of a shipped database. Private to db/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mla::db {

class Sha256 {
 public:
  void add(std::string_view bytes);
  std::string hex();  // of everything added; to be called once

 private:
  void compress();

  std::array<uint32_t, 8> state_ = {0x6A09E667,
                                    0xBB67AE85,
                                    0x3C6EF372,
                                    0xA54FF53A,
                                    0x510E527F,
                                    0x9B05688C,
                                    0x1F83D9AB,
                                    0x5BE0CD19};
  std::array<uint8_t, 64> block_{};
  size_t in_block_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace mla::db

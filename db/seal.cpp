// SPDX-License-Identifier: MIT
#include "db/seal.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "kernels/error.h"

namespace mla::db {
namespace {

// Found in the file by these letters, whatever page it lies on.
constexpr std::string_view kPrefix = "mla-tune file check ";
constexpr size_t kDigits = 16;

// Each step is a bijection of the state for a fixed word and of the word for a fixed state, so that
// no change of one word goes unseen. Four lanes, since one would wait for its own product.
class Checksum {
 public:
  void add(std::string_view bytes) {
    size_t at = 0;
    for (; at + kBlockBytes <= bytes.size(); at += kBlockBytes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        mix(lane, word(bytes.data() + at + 8 * lane, 8));
      }
    }
    for (size_t lane = 0; at < bytes.size(); at += 8, lane = (lane + 1) % kLanes) {
      mix(lane, word(bytes.data() + at, std::min<size_t>(8, bytes.size() - at)));
    }
    mix(0, bytes.size());
  }

  uint64_t value() {
    for (size_t lane = 1; lane < kLanes; ++lane) mix(0, lanes_[lane]);
    return lanes_[0];
  }

 private:
  static constexpr size_t kLanes = 4;
  static constexpr size_t kBlockBytes = 8 * kLanes;

  static uint64_t word(const char* bytes, size_t count) {
    uint64_t value = 0;
    std::memcpy(&value, bytes, count);
    return value;
  }

  void mix(size_t lane, uint64_t word) {
    const uint64_t state = (lanes_[lane] ^ word) * 0x9E3779B97F4A7C15ull;
    lanes_[lane] = state ^ (state >> 29);
  }

  uint64_t lanes_[kLanes] = {1, 2, 3, 4};
};

std::string seal_text(uint64_t value) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return std::string(kPrefix) + digits;
}

// Of the file with a blank seal in place of the one at `at`.
uint64_t checksum(std::string_view file, size_t at) {
  const std::string blank = blank_seal();
  Checksum sum;
  sum.add(file.substr(0, at));
  sum.add(blank);
  sum.add(file.substr(at + blank.size()));
  return sum.value();
}

}  // namespace

std::string blank_seal() {
  return seal_text(0);
}

void write_seal(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const size_t at = bytes.find(blank_seal());
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  if (at != std::string::npos) {
    const std::string seal = seal_text(checksum(bytes, at));
    out.seekp(static_cast<std::streamoff>(at));
    out.write(seal.data(), static_cast<std::streamsize>(seal.size()));
    out.flush();
  }
  if (at == std::string::npos || !out)
    throw Error(ErrorCode::kDatabase, path + ": cannot be sealed");
}

std::optional<bool> seal_holds(Connection& connection) {
  const std::string seal =
      connection.text(std::string("SELECT value FROM meta WHERE key = '") + kSealKey + "'");
  if (seal.empty()) return std::nullopt;
  const std::string bytes = connection.file_bytes();
  const size_t at = bytes.find(seal);
  return at != std::string::npos && seal == seal_text(checksum(bytes, at));
}

}  // namespace mla::db

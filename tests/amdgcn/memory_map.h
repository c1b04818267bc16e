// SPDX-License-Identifier: MIT
// The host memory that an emulated kernel may touch. Addresses on the emulated device are host
// addresses; whatever is not registered here cannot be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mla::amdgcn {

enum class Permission : uint8_t { kReadOnly, kReadWrite };

class MemoryMap {
 public:
  void add(const void* begin, size_t bytes, std::string name, Permission permission);

  // The host address of an access; throws Error naming address and nearest range where it is not
  // inside one range that permits it.
  std::byte* at(uint64_t address, size_t bytes, Permission wanted) const;

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    std::string name;
    Permission permission;
  };
  [[noreturn]] void refuse(uint64_t address, size_t bytes, Permission wanted) const;

  std::vector<Range> ranges_;
  mutable size_t recent_ = 0;  // most accesses follow one to the same range
};

}  // namespace mla::amdgcn

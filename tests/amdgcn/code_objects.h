// SPDX-License-Identifier: MIT
// The code objects that CMake builds for the tests, and how tests hand memory and arguments to a
// machine.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/amdgcn/code_object.h"
#include "tests/amdgcn/machine.h"

namespace mla::amdgcn {

inline constexpr const char* kTargets[] = {"gfx942", "gfx950"};

inline constexpr Mode kModes[] = {{Completion::kLate, WaveOrder::kFirstAhead},
                                  {Completion::kLate, WaveOrder::kLastAhead},
                                  {Completion::kEarly, WaveOrder::kFirstAhead},
                                  {Completion::kEarly, WaveOrder::kLastAhead}};

CodeObject built_code_object(const std::string& name, const std::string& target);

// Kernel arguments in order, each at its natural alignment.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(T... values) {
    (add(values), ...);
  }
  const void* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

 private:
  template <class T>
  void add(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t offset = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(offset + sizeof value);
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  std::vector<std::byte> bytes_;
};

template <class T>
void add(MemoryMap* memory,
         std::vector<T>& values,
         const char* name,
         Permission permission = Permission::kReadWrite) {
  memory->add(values.data(), values.size() * sizeof(T), name, permission);
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
#include "tests/amdgcn/memory_map.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/error.h"

namespace mla::amdgcn {

void MemoryMap::add(const void* begin, size_t bytes, std::string name, Permission permission) {
  const auto first = reinterpret_cast<uint64_t>(begin);
  ranges_.push_back({first, first + bytes, std::move(name), permission});
}

std::byte* MemoryMap::at(uint64_t address, size_t bytes, Permission wanted) const {
  const auto holds = [&](const Range& range) {
    return address >= range.begin && address < range.end && bytes <= range.end - address &&
           (wanted == Permission::kReadOnly || range.permission == Permission::kReadWrite);
  };
  if (recent_ >= ranges_.size() || !holds(ranges_[recent_])) {
    for (recent_ = 0; recent_ < ranges_.size() && !holds(ranges_[recent_]);) ++recent_;
    if (recent_ == ranges_.size()) refuse(address, bytes, wanted);
  }
  return reinterpret_cast<std::byte*>(address);
}

void MemoryMap::refuse(uint64_t address, size_t bytes, Permission wanted) const {
  std::string nearest = "no memory is registered";
  uint64_t smallest = UINT64_MAX;
  for (const Range& range : ranges_) {
    const uint64_t distance = address < range.begin  ? range.begin - address
                              : address >= range.end ? address - range.end
                                                     : 0;
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = fmt::format("nearest is {} of {} bytes, offset {}",
                          range.name,
                          range.end - range.begin,
                          static_cast<int64_t>(address - range.begin));
  }
  throw Error(ErrorCode::kDevice,
              fmt::format("{} of {} bytes at {:#x} is outside of what may be {}: {}",
                          wanted == Permission::kReadOnly ? "load" : "store",
                          bytes,
                          address,
                          wanted == Permission::kReadOnly ? "read" : "written",
                          nearest));
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
#include "policy/shape_table.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace mla::policy {
namespace {

// As unpack_config() reads them.
constexpr int kKnobBits[kKnobCount] = {12, 12, 6, 2, 2, 6, 8, 6, 2, 8};

constexpr size_t kLineBytes = 64;
constexpr size_t kHugePageBytes = size_t{2} << 20;
// Two entries to a line at this load: a miss reads 1.3 lines on average, a hit 1.1.
constexpr double kLoadFactor = 0.6;

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

bool pack_config(const KernelConfig& config, uint64_t* packed) noexcept {
  *packed = 0;
  int shift = 0;
  for (const Knob knob : kKnobs) {
    const int bits = kKnobBits[static_cast<size_t>(knob)];
    const int32_t value = get(config, knob);
    if (value < 0 || value >= (1 << bits)) return false;
    *packed |= static_cast<uint64_t>(value) << shift;
    shift += bits;
  }
  return true;
}

void ShapeTable::Free::operator()(Line* lines) const {
  std::free(lines);
}

ShapeTable::ShapeTable(const std::vector<ShapeEntry>& entries) {
  line_count_ = static_cast<size_t>(static_cast<double>(entries.size()) / (2 * kLoadFactor)) + 1;
  const size_t bytes = line_count_ * kLineBytes;
  // Large tables sit on huge pages: a random probe then costs no page walk.
  const size_t alignment = bytes >= kHugePageBytes ? kHugePageBytes : kLineBytes;
  allocated_bytes_ = round_up(bytes, alignment);
  void* memory = std::aligned_alloc(alignment, allocated_bytes_);
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kHugePageBytes) madvise(memory, allocated_bytes_, MADV_HUGEPAGE);
  std::memset(memory, 0, allocated_bytes_);
  lines_.reset(static_cast<Line*>(memory));

  for (const ShapeEntry& entry : entries) {
    size_t line = home_line(entry.key, line_count_);
    while (lines_[line][1].key != kNoKey) line = line + 1 == line_count_ ? 0 : line + 1;
    lines_[line][lines_[line][0].key == kNoKey ? 0 : 1] = entry;
  }
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
// The shapes that no database answered, with how often and, where the caller reports times, with
// how much of the time. Fixed size, no locks: a miss costs one relaxed addition once its shape is
// known. Lengths of one bucket (shape_key.h) share an entry, so that a sequence that grows by a row
// a step does not fill the table.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "kernels/problem.h"

namespace mla::policy {

class MissTable {
 public:
  // Problems are in the ranges of problem.h; seq_len may be 0, unknown.
  void count(const Problem& problem) noexcept;
  // Adds to the time of all shapes, and to that of the problem's entry where it has one.
  void report(const Problem& problem, double time_us) noexcept;

  // A header line, then one line a shape, the longest time first:
  //   count TAB time_us TAB problem, as to_text() writes the first of its lengths that was missed
  std::string text() const;

 private:
  static constexpr size_t kEntries = 1024;
  static constexpr size_t kMostProbes = 32;

  struct alignas(64) Entry {
    std::atomic<uint64_t> key{0};  // 0: free
    std::atomic<uint64_t> count{0};
    std::atomic<uint64_t> time_ns{0};
    std::array<std::atomic<int32_t>, 10> fields{};  // of the first problem; the last one is not 0
  };
  static_assert(sizeof(Entry) == 64);

  // The entry of a key; where there is none a free one that `claimed` is set for, or null.
  Entry* find(uint64_t key, bool* claimed) noexcept;

  std::array<Entry, kEntries> entries_;
  std::atomic<uint64_t> forgotten_{0};  // misses for which there was no room
  std::atomic<uint64_t> all_time_ns_{0};
};

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
// The hash table of the run-time lookup: shape keys to packed configurations, built once and
// read-only. Open addressing over cache lines of two entries; a lookup in a table that is not in
// the caches costs one memory access, rarely two.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/config.h"
#include "kernels/shape_key.h"

namespace mla::policy {

// What the evidence says about a shape, or about all tuned shapes of a length bucket.
enum class Ruling : uint8_t {
  kWinner,       // `config` beat the default
  kVerifyAgain,  // the same, measured in another software environment
  kDefaultBest,  // no candidate beat the default
  kUndecided,    // no candidate was certain to beat the default
  kDemoted,      // a winner that no longer held when it was timed again
  kFailed,       // could not be measured
  kDisagree,     // rows of one key with different rulings or winners
};

struct ShapeEntry {
  ShapeKey key = kNoKey;
  uint64_t config = 0;  // pack_config()
  float gain = 0;
  union {
    float expected_us = 0;  // under an exact key
    int32_t tuned_length;   // under a bucket key: the shortest one; 0: a gain over another default
    float walk_ratio;       // of a cell's winner: the most at its corners (cell_table.h)
  };
  uint64_t ruling : 8 = 0;
  uint64_t database : 8 = 0;    // index into the list of opened files
  uint64_t winner_id : 48 = 0;  // row id there; 0: none, or too large to be kept
};
static_assert(sizeof(ShapeEntry) == 32);

inline constexpr uint64_t kMaxWinnerId = (uint64_t{1} << 48) - 1;

// False where a knob's value does not fit; those are far outside every space.
bool pack_config(const KernelConfig& config, uint64_t* packed) noexcept;

// Bits of each knob, from the lowest, in knob order: 12, 12, 6, 2, 2, 6, 8, 6, 2, 8. Spelled out
// because the loop over knobs costs a third of a lookup.
inline KernelConfig unpack_config(uint64_t packed) noexcept {
  const auto field = [packed](int shift, int bits) {
    return static_cast<int32_t>((packed >> shift) & ((uint64_t{1} << bits) - 1));
  };
  KernelConfig config;
  config.splits = field(0, 12);
  config.tile_n = field(12, 12);
  config.stages = field(24, 6);
  config.wait = static_cast<Wait>(field(30, 2));
  config.order = static_cast<Order>(field(32, 2));
  config.stage1_warps = field(34, 6);
  config.stage2_tiles = field(40, 8);
  config.stage2_warps = field(48, 6);
  config.schedule = static_cast<Schedule>(field(54, 2));
  config.group_rows = field(56, 8);
  return config;
}

// Spreads a key over all bits; no two keys have one hash.
constexpr uint64_t hash_key(uint64_t key) noexcept {
  const uint64_t hash = key * 0x9E3779B97F4A7C15ull;
  return (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93ull;  // fold the high bits down, spread again
}

class ShapeTable {
  using Line = ShapeEntry[2];

 public:
  // Keys are distinct and not kNoKey. Throws std::bad_alloc.
  explicit ShapeTable(const std::vector<ShapeEntry>& entries);

  // Null where the key is absent.
  const ShapeEntry* find(ShapeKey key) const noexcept {
    for (size_t line = home_line(key, line_count_);;
         line = line + 1 == line_count_ ? 0 : line + 1) {
      const Line& entries = lines_[line];
      if (entries[0].key == key) return &entries[0];
      if (entries[1].key == key) return &entries[1];
      if (entries[1].key == kNoKey) return nullptr;  // lines fill from the front
    }
  }

  size_t memory_bytes() const { return allocated_bytes_; }

  // Where a table's lines lie, for a prefetch that is issued before the table may be touched: an
  // address that went stale in between is harmless.
  class Place {
   public:
    void set(const ShapeTable& table) noexcept {
      lines_.store(table.lines_.get(), std::memory_order_relaxed);
      line_count_.store(table.line_count_, std::memory_order_relaxed);
    }
    void prefetch(ShapeKey key) const noexcept {
      const auto lines = reinterpret_cast<uintptr_t>(lines_.load(std::memory_order_relaxed));
      const size_t line = home_line(key, line_count_.load(std::memory_order_relaxed));
      __builtin_prefetch(reinterpret_cast<const void*>(lines + line * sizeof(Line)));
    }

   private:
    std::atomic<const void*> lines_{nullptr};
    std::atomic<size_t> line_count_{0};
  };

 private:
  struct Free {
    void operator()(Line* lines) const;
  };

  // Lemire's fastrange: the high half of hash x count, in place of a modulo.
  static size_t home_line(ShapeKey key, size_t line_count) noexcept {
    const uint64_t hash = hash_key(key);
    return static_cast<size_t>((static_cast<unsigned __int128>(hash) * line_count) >> 64);
  }

  size_t line_count_ = 0;
  size_t allocated_bytes_ = 0;
  std::unique_ptr<Line[], Free> lines_;
};

}  // namespace mla::policy

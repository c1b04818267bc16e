// SPDX-License-Identifier: MIT
// Answers of a default policy, kept because a step asks what the last one asked: a lookup that
// falls back to a model of costs (default_splits.h) takes 42 to 63 ns with a kept answer (`bench
// lookup`) and working it out some 570. Any number of threads, no lock: an entry is two words whose
// exclusive or is the key's hash, so that halves of two writers match no key. Only the key 0, which
// no problem has, has the hash of an empty entry.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "policy/default_policy.h"
#include "policy/shape_table.h"

namespace mla::policy {

class DefaultMemo {
 public:
  KernelConfig answer(const DefaultPolicy& policy, const Problem& problem) const noexcept {
    const uint64_t hash = hash_key(DefaultPolicy::alike(problem));
    Set& set = sets_[hash % kSets];
    for (const Entry& entry : set) {
      const uint64_t packed = entry.config.load(std::memory_order_relaxed);
      if ((entry.check.load(std::memory_order_relaxed) ^ packed) == hash)
        return unpack_config(packed);
    }
    const KernelConfig config = policy(problem);
    uint64_t packed = 0;
    if (pack_config(config, &packed)) keep(set, packed, hash);
    return config;
  }

 private:
  struct Entry {
    std::atomic<uint64_t> config{0};
    std::atomic<uint64_t> check{0};
  };
  using Set = std::array<Entry, 4>;  // one cache line
  static constexpr size_t kSets = 512;

  // The newest first, the oldest is lost.
  static void keep(Set& set, uint64_t packed, uint64_t hash) noexcept {
    const auto relaxed = std::memory_order_relaxed;
    for (size_t i = set.size() - 1; i > 0; --i) {
      set[i].config.store(set[i - 1].config.load(relaxed), relaxed);
      set[i].check.store(set[i - 1].check.load(relaxed), relaxed);
    }
    set[0].config.store(packed, relaxed);
    set[0].check.store(packed ^ hash, relaxed);
  }

  alignas(64) mutable std::array<Set, kSets> sets_;
};

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
// Safe reading of an object that another thread may replace: hazard pointers in a fixed array of
// slots. A reader claims a slot with one compare-and-swap that also announces the object; counters
// live in the same cache line and belong to whoever holds the slot, so readers share nothing that
// is written.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace mla::policy {

template <typename T, size_t kCounters>
class ReaderSlots {
 public:
  // Far more than the threads that are inside a 30 ns section at one time, preempted ones included.
  static constexpr size_t kSlots = 128;

  struct alignas(64) Slot {
    std::atomic<const T*> announced{nullptr};
    std::array<std::atomic<uint64_t>, kCounters> counters{};

    // By the holder only: no other thread writes, so no read-modify-write is needed.
    void count(size_t index) noexcept {
      counters[index].store(counters[index].load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
    }
  };

  // Claims a slot and announces what `current` points to, which stays alive until release(). Null
  // where every slot is taken. Never waits.
  Slot* acquire(const std::atomic<const T*>& current, const T** object) noexcept {
    const size_t home = home_slot();
    for (size_t i = 0; i < kSlots; ++i) {
      Slot& slot = slots_[(home + i) % kSlots];
      const T* seen = current.load(std::memory_order_acquire);
      const T* free = nullptr;
      if (!slot.announced.compare_exchange_strong(free, seen, std::memory_order_seq_cst)) continue;
      // The announcement counts only if the object was still current after it became visible: a
      // writer replaces first and looks at the slots afterwards.
      for (;;) {
        const T* now = current.load(std::memory_order_seq_cst);
        if (now == seen) break;
        slot.announced.store(now, std::memory_order_seq_cst);
        seen = now;
      }
      *object = seen;
      return &slot;
    }
    return nullptr;
  }

  static void release(Slot* slot) noexcept {
    slot->announced.store(nullptr, std::memory_order_release);
  }

  // Waits until no reader holds `object`, which must not be current any more.
  void wait_until_unused(const T* object) const noexcept {
    for (const Slot& slot : slots_) {
      while (slot.announced.load(std::memory_order_seq_cst) == object) std::this_thread::yield();
    }
  }

  uint64_t sum(size_t counter) const noexcept {
    uint64_t total = 0;
    for (const Slot& slot : slots_) total += slot.counters[counter].load(std::memory_order_relaxed);
    return total;
  }

 private:
  // Spread by the thread's identity, which costs no system call and no thread-local storage.
  static size_t home_slot() noexcept {
    const auto thread = reinterpret_cast<uintptr_t>(pthread_self());
    return static_cast<size_t>((uint64_t{thread} * 0x9E3779B97F4A7C15ull) >> 57);
  }
  static_assert(kSlots == 128, "home_slot() takes 7 bits");

  std::array<Slot, kSlots> slots_;
};

}  // namespace mla::policy

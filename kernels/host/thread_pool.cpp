// SPDX-License-Identifier: MIT
#include "kernels/host/thread_pool.h"

namespace mla::host {
namespace {

// About 50 us: the two stages of a launch follow each other closely, and waking a thread costs as
// much.
constexpr int kSpins = 5000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { work(thread); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++epoch_;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int64_t items, const Body& body) {
  body_ = &body;
  items_ = items;
  next_item_ = 0;
  working_ = static_cast<int>(workers_.size());
  {
    const std::lock_guard lock(mutex_);
    ++epoch_;
  }
  wake_.notify_all();
  take_items(0);
  for (int spins = 0; working_ != 0; ++spins) {
    if (spins < kSpins) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::work(int thread) {
  for (uint64_t seen = 0;;) {
    for (int spins = 0; spins < kSpins && epoch_ == seen; ++spins) relax();
    if (epoch_ == seen) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return epoch_ != seen; });
    }
    if (stopping_) return;
    ++seen;
    take_items(thread);
    --working_;
  }
}

void ThreadPool::take_items(int thread) {
  for (int64_t item = next_item_++; item < items_; item = next_item_++) (*body_)(item, thread);
}

}  // namespace mla::host

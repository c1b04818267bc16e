// SPDX-License-Identifier: MIT
// A few persistent threads that share numbered work items through a counter.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mla::host {

class ThreadPool {
 public:
  // `threads` >= 1 counts the caller of run(), who works as thread 0.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(item, thread) once for every item below `items`, each thread taking the next free
  // one, and returns when all are done. `body` must not throw. One caller at a time.
  using Body = std::function<void(int64_t item, int thread)>;
  void run(int64_t items, const Body& body);

 private:
  void work(int thread);
  void take_items(int thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> epoch_{0};  // one more for each run(), and a last one to stop
  std::atomic<bool> stopping_{false};
  // The current run. Written before the epoch changes.
  const Body* body_ = nullptr;
  int64_t items_ = 0;
  std::atomic<int64_t> next_item_{0};
  std::atomic<int> working_{0};  // workers that have not finished the current run
};

}  // namespace mla::host

// SPDX-License-Identifier: MIT
// A loop over independent pieces of work on all threads that this process may use. For inputs and
// references; the kernels of the host have a pool of their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <vector>

#include "kernels/host/cpu_info.h"

namespace mla {

// work(0) .. work(count - 1), each once, in any order and on any thread. Throws what one of them
// threw, after all threads have ended.
template <class Work>
void parallel_for(int64_t count, const Work& work) {
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  const int64_t threads = std::min<int64_t>(count, host::usable_threads());
  std::vector<std::future<void>> others;
  for (int64_t t = 1; t < threads; ++t) others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void>& other : others) other.get();
}

}  // namespace mla

// SPDX-License-Identifier: MIT
#include "kernels/host/probes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

#include "kernels/host/cpu_info.h"
#include "kernels/host/probe_kernels.h"
#include "kernels/host/thread_pool.h"
#include "kernels/workload.h"

namespace mla {
namespace {

constexpr int kRepetitions = 8;
constexpr int64_t kUsualCache = int64_t{32} << 20;
constexpr int64_t kLargestCache = int64_t{128} << 20;

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Written memory: untouched pages would all be one cached page of zeros.
class TouchedBuffer {
 public:
  explicit TouchedBuffer(int64_t bytes) : pool_(static_cast<size_t>(bytes), false) {}
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(pool_.data()); }

 private:
  NanPool pool_;
};

// Operations a second with every thread in `loop`: short items, so that all stay busy to the end.
double rate(host::ThreadPool& pool, double (*loop)(int64_t)) {
  constexpr int kItemsPerThread = 64;
  int64_t rounds = 1000;
  while (seconds([&] { loop(rounds); }) < 1e-4) rounds *= 2;
  const double operations_per_item = loop(rounds);
  const int64_t items = int64_t{kItemsPerThread} * pool.threads();
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const double time = seconds([&] { pool.run(items, [&](int64_t, int) { loop(rounds); }); });
    best = std::max(best, operations_per_item * static_cast<double>(items) / time);
  }
  return best;
}

double read_rate(host::ThreadPool& pool) {
  const int64_t bytes = 4 * host_cache_bytes();
  const TouchedBuffer buffer(bytes);
  constexpr int64_t kChunkBytes = int64_t{1} << 20;
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    std::atomic<uint64_t> sum{0};
    const double time = seconds([&] {
      pool.run(bytes / kChunkBytes, [&](int64_t chunk, int) {
        constexpr int64_t kWords = kChunkBytes / 8;
        sum += host::read_loop(buffer.words() + chunk * kWords, kWords);
      });
    });
    best = std::max(best, static_cast<double>(bytes) / time);
  }
  return best;
}

}  // namespace

int64_t host_cache_bytes() {
  const int64_t listed = host::listed_cache_bytes();
  return listed == 0 ? kUsualCache : std::clamp(listed, kUsualCache, kLargestCache);
}

HostRates probe_host(int threads) {
  host::ThreadPool pool(threads);
  HostRates rates;
  rates.read_gb_s = read_rate(pool) * 1e-9;
  rates.fp32_gflop_s = rate(pool, host::fma_loop) * 1e-9;
  if (host::bf16_dot_loop(1) > 0) rates.bf16_dot_gflop_s = rate(pool, host::bf16_dot_loop) * 1e-9;
  return rates;
}

}  // namespace mla

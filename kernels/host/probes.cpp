// SPDX-License-Identifier: MIT
#include "kernels/host/probes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

#include "kernels/host/probe_kernels.h"
#include "kernels/host/thread_pool.h"
#include "kernels/workload.h"

namespace mla {
namespace {

constexpr int kRepetitions = 8;
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

// Nanoseconds of a load whose address depends on the one before, from random lines of `bytes`.
double chase_ns(const uint64_t* words, int64_t bytes) {
  constexpr int kLoads = 20000;
  const uint64_t mask = static_cast<uint64_t>(bytes / 8 - 1) & ~uint64_t{7};
  host::read_loop(words, bytes / 8);
  uint64_t position = 1;
  double best = 1e9;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const double time = seconds([&] {
      for (int i = 0; i < kLoads; ++i) position = mix64(position + words[position & mask]);
    });
    best = std::min(best, time / kLoads * 1e9);
  }
  volatile uint64_t keep = position;
  static_cast<void>(keep);
  return best;
}

// The first power of two whose random loads take half as long as those from memory. Beyond the
// cache the time still grows with the TLB's misses, so that a later knee would not be the cache's.
int64_t measure_cache() {
  const TouchedBuffer buffer(2 * kLargestCache);
  const double memory_ns = chase_ns(buffer.words(), 2 * kLargestCache);
  int64_t bytes = int64_t{4} << 20;
  while (bytes < kLargestCache && chase_ns(buffer.words(), bytes) < 0.5 * memory_ns) bytes *= 2;
  return bytes;
}

}  // namespace

int64_t host_cache_bytes() {
  static const int64_t bytes = measure_cache();
  return bytes;
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

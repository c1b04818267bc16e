// SPDX-License-Identifier: MIT
#include "tools/bench_lookup.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

#include "db/fake_winners.h"
#include "db/snapshot.h"
#include "kernels/error.h"
#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/mla_policy.h"

namespace mla::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOpenings = 5;
constexpr int kMeans = 1000;
constexpr int kCallsPerMean = 1000;
constexpr size_t kFewKeys = 256;
constexpr size_t kManyKeys = 1'000'000;
constexpr double kGoalHitNs = 30, kGoalDefaultNs = 60, kGoalUniformNs = 120;
constexpr int64_t kGoalOpenRows = 100'000;
constexpr double kGoalOpenMs = 300, kGoalBytesPerRow = 200;
constexpr int64_t kConcurrentRows = 1000;
constexpr size_t kCallsPerThread = 500'000;
constexpr double kGoalConcurrentNs = 1000;

class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& parent) {
    namespace fs = std::filesystem;
    std::string pattern =
        ((parent.empty() ? fs::temp_directory_path() : fs::path(parent)) / "mla-bench-XXXXXX")
            .string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorCode::kDatabase, pattern + ": the directory cannot be created");
    }
    path_ = pattern;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct ClosePolicy {
  void operator()(mla_policy* policy) const { mla_policy_close(policy); }
};
using PolicyPointer = std::unique_ptr<mla_policy, ClosePolicy>;

// What the databases are for.
DeviceInfo bench_device() {
  DeviceInfo device;
  known_device("MI355X", &device);
  return device;
}

// Its default is a model of costs, which takes longer than a formula.
DeviceInfo modelled_device() {
  DeviceInfo device;
  known_device("H200", &device);
  return device;
}

PolicyPointer open_policy(const std::string& path, const DeviceInfo& device) {
  mla_device_desc desc{};
  desc.struct_size = sizeof desc;
  desc.compute_units = device.compute_units;
  desc.xcds = device.xcds;
  desc.local_memory_bytes = device.local_memory_bytes;
  desc.arch = device.arch.c_str();
  const char* const paths[] = {path.c_str()};
  mla_policy* policy = nullptr;
  const mla_status status = mla_policy_open(paths, 1, &desc, &policy);
  PolicyPointer opened(policy);
  if (status != MLA_OK)
    throw Error(ErrorCode::kInternal, path + ": the generated database does not open");
  return opened;
}

mla_shape to_shape(const Problem& problem) {
  mla_shape shape{};
  shape.struct_size = sizeof shape;
  shape.batch = problem.batch;
  shape.seq_len = problem.seq_len;
  shape.share_group = problem.share_group;
  shape.nhead = problem.nhead;
  shape.q_len = problem.q_len;
  shape.page_size = problem.page_size;
  shape.kv_dtype = static_cast<int32_t>(problem.kv_dtype);
  shape.imbalance = problem.imbalance;
  return shape;
}

std::vector<Problem> tuned_problems(const std::string& path, const Space& space) {
  std::vector<Problem> problems;
  db::load_snapshot(
      path, space, {[&](const db::SnapshotRow& row) { problems.push_back(row.problem); }});
  return problems;
}

// Every key once and then again in the same random order.
std::vector<mla_shape> random_keys(const std::vector<Problem>& problems,
                                   size_t count,
                                   std::mt19937_64& random) {
  std::vector<mla_shape> keys(count);
  for (mla_shape& key : keys) key = to_shape(problems[random() % problems.size()]);
  return keys;
}

// A page size that no row has: neither the exact nor the bucket key is found.
std::vector<mla_shape> untuned(std::vector<mla_shape> keys) {
  for (mla_shape& key : keys) key.page_size = 64;
  return keys;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

LookupTime time_lookups(const std::string& name,
                        mla_policy* policy,
                        const std::vector<mla_shape>& keys,
                        mla_source expected) {
  std::vector<double> means_ns;
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  size_t next = 0;
  int64_t unexpected = 0;
  for (int mean = -1; mean < kMeans; ++mean) {  // the first warms up
    const Clock::time_point begin = Clock::now();
    for (int call = 0; call < kCallsPerMean; ++call) {
      mla_policy_plan(policy, &keys[next], &plan);
      unexpected += plan.source != expected;
      if (++next == keys.size()) next = 0;
    }
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
    if (mean >= 0) means_ns.push_back(elapsed.count() / kCallsPerMean);
  }
  if (unexpected > 0)
    throw Error(ErrorCode::kInternal, name + ": a lookup did not answer as it should");
  std::sort(means_ns.begin(), means_ns.end());
  LookupTime time;
  time.name = name;
  time.ns = quantile(means_ns, 0.5);
  time.ns_low = quantile(means_ns, 0.25);
  time.ns_high = quantile(means_ns, 0.75);
  return time;
}

LookupOpening time_opening(const std::string& path, const DeviceInfo& device) {
  std::vector<double> times_ms;
  LookupOpening opening;
  for (int i = 0; i < kOpenings; ++i) {
    const Clock::time_point begin = Clock::now();
    const PolicyPointer policy = open_policy(path, device);
    times_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    int64_t bytes = 0;
    mla_policy_table_size(policy.get(), &opening.rows, &bytes);
    opening.bytes_per_row = static_cast<double>(bytes) / static_cast<double>(opening.rows);
  }
  std::sort(times_ms.begin(), times_ms.end());
  opening.open_ms = quantile(times_ms, 0.5);
  opening.goal_ms = opening.rows == kGoalOpenRows ? kGoalOpenMs : 0;
  opening.goal_bytes_per_row = kGoalBytesPerRow;
  return opening;
}

// `uniform`: also keys from the whole table.
void bench_table(
    const std::string& path, int64_t rows, bool uniform, uint64_t seed, LookupBench* bench) {
  const DeviceInfo device = bench_device();
  const std::vector<Problem> problems = tuned_problems(path, make_space(device));
  bench->openings.push_back(time_opening(path, device));
  const PolicyPointer policy = open_policy(path, device);
  const auto add = [&](LookupTime time, double goal_ns) {
    time.table_rows = rows;
    time.goal_ns = goal_ns;
    bench->times.push_back(time);
  };
  std::mt19937_64 random(seed);
  const std::vector<mla_shape> few = random_keys(problems, kFewKeys, random);
  add(time_lookups("hit, 256 keys", policy.get(), few, MLA_SOURCE_EXACT), kGoalHitNs);
  add(time_lookups("default, 256 keys", policy.get(), untuned(few), MLA_SOURCE_DEFAULT),
      kGoalDefaultNs);
  if (!uniform) {
    const PolicyPointer modelled = open_policy(path, modelled_device());
    add(time_lookups("default, costs", modelled.get(), untuned(few), MLA_SOURCE_DEFAULT),
        kGoalDefaultNs);
    return;
  }
  const std::vector<mla_shape> many = random_keys(problems, kManyKeys, random);
  add(time_lookups("hit, uniform", policy.get(), many, MLA_SOURCE_EXACT), kGoalUniformNs);
}

// Every call by itself, so that the slowest of a thousand can be told.
void time_each_call(mla_policy* policy,
                    const std::vector<mla_shape>& keys,
                    std::vector<double>* ns) {
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  for (size_t call = 0; call < ns->size(); ++call) {
    const Clock::time_point begin = Clock::now();
    mla_policy_plan(policy, &keys[call % keys.size()], &plan);
    (*ns)[call] = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
}

ConcurrentLookups time_concurrent(const std::string& path, const LookupBenchOptions& options) {
  const DeviceInfo device = bench_device();
  const PolicyPointer policy = open_policy(path, device);
  std::mt19937_64 random(options.seed);
  const std::vector<mla_shape> keys =
      random_keys(tuned_problems(path, make_space(device)), kFewKeys, random);
  std::vector<std::vector<double>> times_ns(static_cast<size_t>(options.threads),
                                            std::vector<double>(kCallsPerThread));
  std::atomic<int> running{options.threads};
  std::vector<std::thread> readers;
  const Clock::time_point begin = Clock::now();
  for (std::vector<double>& ns : times_ns) {
    readers.emplace_back([&] {
      time_each_call(policy.get(), keys, &ns);
      --running;
    });
  }
  ConcurrentLookups result;
  for (; running > 0; ++result.reloads) mla_policy_reload(policy.get());
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
  for (std::thread& reader : readers) reader.join();

  std::vector<double> all;
  for (const std::vector<double>& ns : times_ns) all.insert(all.end(), ns.begin(), ns.end());
  std::sort(all.begin(), all.end());
  result.threads = options.threads;
  result.reload_us = elapsed.count() / static_cast<double>(std::max<int64_t>(1, result.reloads));
  result.median_ns = quantile(all, 0.5);
  result.p999_ns = quantile(all, 0.999);
  result.goal_ns = kGoalConcurrentNs;
  return result;
}

}  // namespace

LookupBench bench_lookup(const LookupBenchOptions& options,
                         const std::function<void(const std::string&)>& progress,
                         const std::atomic<bool>& stop) {
  const auto tell = [&](const std::string& text) {
    if (progress) progress(text);
  };
  const ScratchDirectory scratch(options.scratch_dir);
  const int64_t largest = *std::max_element(options.table_rows.begin(), options.table_rows.end());
  LookupBench bench;
  for (const int64_t rows : options.table_rows) {
    if (stop) break;
    const std::string path = scratch.file(std::to_string(rows) + ".db");
    tell("generating a database of " + std::to_string(rows) + " winners");
    db::write_fake_winners(path, bench_device(), rows, options.seed);
    if (stop) break;
    tell("timing lookups among " + std::to_string(rows) + " winners");
    bench_table(path, rows, rows == largest, options.seed, &bench);
  }
  if (stop) return bench;
  tell("timing lookups of " + std::to_string(options.threads) + " threads during reloads");
  const std::string path = scratch.file("concurrent.db");
  db::write_fake_winners(path, bench_device(), kConcurrentRows, options.seed);
  bench.concurrent.push_back(time_concurrent(path, options));
  return bench;
}

}  // namespace mla::tools

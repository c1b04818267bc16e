// SPDX-License-Identifier: MIT
// What a lookup costs: times through the C ABI of policy/mla_policy.h, on generated databases, plus
// the time and the memory to open one. Prints nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mla::tools {

struct LookupTime {
  std::string name;  // "hit, 256 keys", "default, 256 keys", "hit, uniform"
  int64_t table_rows = 0;
  double ns = 0;      // median of 1,000 means of 1,000 calls each
  double ns_low = 0;  // quartiles of the same
  double ns_high = 0;
  double goal_ns = 0;  // what the project asks for
};

struct LookupOpening {
  int64_t rows = 0;
  double open_ms = 0;        // median of 5 openings, file in the page cache
  double goal_ms = 0;        // 0: no goal at this size
  double bytes_per_row = 0;  // the table alone, as the library reports it
  double goal_bytes_per_row = 0;
};

// Single calls of several threads while another one reloads a table of 1,000 rows back to back.
struct ConcurrentLookups {
  int threads = 0;
  int64_t reloads = 0;
  double reload_us = 0;  // mean
  double median_ns = 0;  // of all calls; the clock's own two readings are in each
  double p999_ns = 0;    // 99.9th percentile
  double goal_ns = 0;
};

struct LookupBench {
  std::vector<LookupTime> times;
  std::vector<LookupOpening> openings;
  std::vector<ConcurrentLookups> concurrent;  // one, or none where the bench was stopped
};

struct LookupBenchOptions {
  std::vector<int64_t> table_rows = {256, 10'000, 100'000, 1'000'000};
  // Where the generated databases live for the time of the bench; empty: the system's temporary
  // directory. A million rows take about 200 MB.
  std::string scratch_dir;
  uint64_t seed = 1;
  int threads = 8;
};

// `progress` (may be empty) is told what is being measured; `stop` ends the bench with the tables
// that are complete. Throws Error(kDatabase) where a generated database cannot be written.
LookupBench bench_lookup(const LookupBenchOptions& options,
                         const std::function<void(const std::string&)>& progress,
                         const std::atomic<bool>& stop);

}  // namespace mla::tools

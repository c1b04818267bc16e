// SPDX-License-Identifier: MIT
#include "kernels/hip/probes.h"

#include <algorithm>
#include <utility>

#include "kernels/bh16_layout.h"
#include "kernels/hip/hip_executor.cuh"
#include "kernels/hip/hip_problem.cuh"
#include "kernels/workload.h"

namespace mla::hip {
namespace {

constexpr int kRepetitions = 8;
constexpr int64_t kReadBytes = int64_t{8} << 30;

// {tile_n, stages} of the gather alone: the fastest ones on NVIDIA and the deep ones of AMD, of
// which a device tries those that it has.
constexpr std::pair<int32_t, int32_t> kCopyRings[] = {
    {16, 6}, {16, 11}, {32, 3}, {32, 5}, {16, 3}, {16, 4}, {32, 4}, {64, 2}};

__global__ void empty_kernel() {}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double median_us(HipExecutor& executor, const Graph& graph) {
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) times.push_back(executor.time_cold_us(graph));
  return median(times);
}

double empty_graph_us(HipExecutor& executor) {
  Graph graph;
  const Outcome outcome = graph.capture(executor.stream(), [&] {
    empty_kernel<<<1, 32, 0, executor.stream().get()>>>();
    return hipGetLastError();
  });
  if (!outcome.ok()) throw Error(ErrorCode::kDevice, "empty graph: " + outcome.text);
  return median_us(executor, graph);
}

// The best of several, each `repeats` times over the same bytes.
double read_rate(HipExecutor& executor, int64_t bytes, int repeats) {
  DeviceMemory memory;
  memory.require(static_cast<size_t>(bytes), "read probe");
  check(hipMemset(memory.as<void>(), 0, static_cast<size_t>(bytes)), "read probe");
  Event begin, end;
  double best_us = 1e30;
  for (int i = 0; i < kRepetitions; ++i) {
    executor.read(memory.as<void>(), bytes);
    begin.record(executor.stream());
    executor.read(memory.as<void>(), bytes, repeats);
    end.record(executor.stream());
    executor.stream().wait();
    best_us = std::min(best_us, end.us_since(begin));
  }
  return 1e-3 * static_cast<double>(bytes) * repeats / best_us;
}

// One scattered gather, a request for each compute unit, of rows that the last-level cache holds.
class CachedRows {
 public:
  CachedRows(const DeviceInfo& device, int64_t pool_bytes) : requests_(device.compute_units) {
    const int64_t pool_rows = pool_bytes / kRowBytes;
    std::vector<int32_t> indptr, indices, last_page_len(static_cast<size_t>(requests_), 1);
    for (int32_t b = 0; b <= requests_; ++b) indptr.push_back(b * kRowsPerRequest);
    for (int64_t i = 0; i < bytes() / kRowBytes; ++i) {
      indices.push_back(static_cast<int32_t>(mix64(static_cast<uint64_t>(i)) % pool_rows));
    }
    pool_.require(static_cast<size_t>(pool_bytes), kWhat);
    check(hipMemset(pool_.as<void>(), 0, static_cast<size_t>(pool_bytes)), kWhat);
    indptr_.upload(indptr, kWhat);
    indices_.upload(indices, kWhat);
    last_page_len_.upload(last_page_len, kWhat);
  }

  int64_t bytes() const { return int64_t{requests_} * kRowsPerRequest * kRowBytes; }

  DecodeParams params() const {
    DecodeParams params;
    params.batch = requests_;
    params.nhead = 1;
    params.kv = pool_.as<const void>();
    params.kv_indptr = indptr_.as<const int32_t>();
    params.kv_indices = indices_.as<const int32_t>();
    params.last_page_len = last_page_len_.as<const int32_t>();
    return params;
  }

 private:
  static constexpr int32_t kRowsPerRequest = 16384;
  static constexpr const char* kWhat = "cache probe";

  int32_t requests_;
  DeviceMemory pool_, indptr_, indices_, last_page_len_;
};

// The best of several; the first of them fills the cache. 0 where the ring does not fit.
double cached_gather_rate(HipExecutor& executor, const DeviceInfo& device, int64_t pool_bytes) {
  const CachedRows rows(device, pool_bytes);
  const DecodeParams params = rows.params();
  KernelConfig config;
  config.stage1_warps = kWarpsPerTeam;
  Event begin, end;
  double best_us = 1e30;
  for (const auto& [tile_n, stages] : {std::pair{16, 5}, {16, 11}, {32, 5}}) {
    config.tile_n = tile_n;
    config.stages = stages;
    for (int i = 0; i < kRepetitions; ++i) {
      begin.record(executor.stream());
      const hipError_t launched =
          executor.launcher().copy_only(params, config, executor.stream().get());
      if (!launch_outcome(launched).ok()) break;
      end.record(executor.stream());
      executor.stream().wait();
      best_us = std::min(best_us, end.us_since(begin));
    }
  }
  return 1e-3 * static_cast<double>(rows.bytes()) / best_us;
}

// Split counts that fill the device once or a few times.
std::vector<int32_t> filling_splits(const Space& space,
                                    const Problem& problem,
                                    const KernelConfig& config) {
  const int64_t groups = problem.batch * request_workgroups(problem, config);
  std::vector<int32_t> splits;
  for (const int64_t waves : {1, 2, 4}) {
    const int64_t count = waves * space.device().compute_units / groups;
    splits.push_back(static_cast<int32_t>(
        std::clamp<int64_t>(count, 1, space.range(Knob::kSplits).legal.back())));
  }
  return splits;
}

}  // namespace

RoofRates probe_hip(Device& device) {
  HipExecutor& executor = executor_of(device);
  size_t free_bytes = 0, total_bytes = 0;
  check(hipMemGetInfo(&free_bytes, &total_bytes), "memory");
  RoofRates rates;
  const auto most = static_cast<int64_t>(free_bytes / 2) & ~int64_t{4095};
  rates.read_gb_s = read_rate(executor, std::min(kReadBytes, most), 1);
  const int64_t cache = device.info().last_level_cache_bytes;
  if (cache > 0) {
    const int64_t resident = (cache / 3) & ~int64_t{4095};
    rates.l2_read_gb_s = std::max(read_rate(executor, resident, 64),
                                  cached_gather_rate(executor, device.info(), resident));
  }
  rates.empty_graph_us = empty_graph_us(executor);
  return rates;
}

CopyOnly time_copy_only(LoadedProblem& problem, int rounds) {
  auto* hip = dynamic_cast<HipProblem*>(&problem);
  if (hip == nullptr) throw Error(ErrorCode::kInternal, "not a problem of a HIP device");
  CopyOnly best = {1e30, {}};
  KernelConfig config = hip->space().neutral();
  config.stage1_warps = kWarpsPerTeam;  // one ring as deep as it gets
  config.wait = Wait::kPartial;
  const Problem& shape = problem.workload().problem();
  for (const int32_t splits : filling_splits(hip->space(), shape, config)) {
    for (const auto& [tile_n, stages] : kCopyRings) {
      config.splits = splits;
      config.tile_n = tile_n;
      config.stages = stages;
      if (hip->space().violation(shape, config)) continue;
      std::vector<double> times;
      for (int round = 0; round < rounds; ++round) {
        const TimedRun run = hip->time_copy_only(config);
        if (!run.outcome.ok()) break;
        times.push_back(run.time_us);
      }
      if (times.empty()) continue;
      const double time_us = median(times);
      if (time_us < best.time_us) best = {time_us, config};
    }
  }
  return best;
}

}  // namespace mla::hip

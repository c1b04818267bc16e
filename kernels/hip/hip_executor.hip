// SPDX-License-Identifier: MIT
#include "kernels/hip/hip_executor.cuh"

#include <algorithm>
#include <array>

#include "kernels/gpu/pool_kernels.cuh"

namespace mla::hip {
namespace {

// Where the cache size is unknown.
constexpr int64_t kAssumedCacheBytes = int64_t{256} << 20;

using M = ProblemMemory;
constexpr std::array kBuffers = {&M::q,
                                 &M::pool,
                                 &M::indptr,
                                 &M::indices,
                                 &M::last_page_len,
                                 &M::out,
                                 &M::lse,
                                 &M::workspace,
                                 &M::kept_out,
                                 &M::kept_lse,
                                 &M::row_errors,
                                 &M::spike_rows,
                                 &M::spike_bytes};
static_assert(sizeof(M) == kBuffers.size() * sizeof(DeviceMemory));

}  // namespace

void init_launcher(int ordinal, const DeviceInfo& info, gpu::Launcher* launcher) {
  const hipError_t status = launcher->init(info.arch, static_cast<size_t>(info.local_memory_bytes));
  if (status != hipSuccess) {
    throw Error(ErrorCode::kDevice,
                "hip:" + std::to_string(ordinal) + ": the kernels do not run on " + info.arch +
                    ": " + describe(status));
  }
}

HipExecutor::HipExecutor(int ordinal, const DeviceInfo& info) : compute_units_(info.compute_units) {
  init_launcher(ordinal, info, &launcher_);
  const int64_t cache =
      info.last_level_cache_bytes > 0 ? info.last_level_cache_bytes : kAssumedCacheBytes;
  flush_bytes_ = 4 * cache;
  flush_.require(static_cast<size_t>(flush_bytes_), "cache flush");
  check(hipMemset(flush_.as<void>(), 0, static_cast<size_t>(flush_bytes_)), "cache flush");
  sink_.require(16, "cache flush");
}

void HipExecutor::read(const void* data, int64_t bytes, int repeats) {
  check(gpu::read_memory(data, bytes, repeats, compute_units_, sink_.as<void>(), stream_.get()),
        "read");
}

void HipExecutor::lend(ProblemMemory* memory) {
  for (DeviceMemory ProblemMemory::*buffer : kBuffers) (memory->*buffer).swap(spare_.*buffer);
}

void HipExecutor::take_back(ProblemMemory* memory) {
  for (DeviceMemory ProblemMemory::*buffer : kBuffers) {
    DeviceMemory& given = memory->*buffer;
    if (given.capacity() > (spare_.*buffer).capacity()) given.swap(spare_.*buffer);
  }
}

void HipExecutor::flush_caches() {
  read(flush_.as<void>(), flush_bytes_);
}

double HipExecutor::time_cold_us(const Graph& graph) {
  flush_caches();
  begin_.record(stream_);
  check(graph.replay(stream_), "graph");
  end_.record(stream_);
  stream_.wait();
  return end_.us_since(begin_);
}

}  // namespace mla::hip

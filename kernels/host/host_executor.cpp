// SPDX-License-Identifier: MIT
#include "kernels/host/host_executor.h"

#include <atomic>
#include <functional>

#include "kernels/error.h"
#include "kernels/host/cpu_info.h"
#include "kernels/host/probe_kernels.h"
#include "kernels/host/probes.h"

namespace mla::host {

const Kernels& find_kernels(const std::string& isa) {
  if (isa == "highway") return highway_kernels();
  const Kernels* bf16 = bf16_kernels();
  if (bf16 != nullptr) return *bf16;
  if (isa == "bf16") throw Error(ErrorCode::kDevice, "isa=bf16: this CPU has no AVX512-BF16");
  return highway_kernels();
}

Executor::Executor(const Kernels& kernels, int threads) : kernels_(kernels), pool_(threads) {
  for (int i = 0; i < threads; ++i) scratch_.push_back(std::make_unique<Scratch>());
}

// The pool is handed references: a std::function that owned these closures would allocate.
void Executor::launch(const DecodeParams& params, const KernelConfig& config) {
  const PipelineSchedule schedule = make_schedule(config);
  const auto stage1 = [&](int64_t item, int thread) {
    kernels_.stage1(params,
                    config,
                    schedule,
                    kDefaultCopyMode,
                    stage1_item(params, config, config.group_rows, item),
                    scratch_[thread].get());
  };
  pool_.run(stage1_items(params, config), std::cref(stage1));
  if (config.splits == 1) return;
  const auto stage2 = [&](int64_t item, int thread) {
    run_stage2(params, config, stage2_item(config, item), scratch_[thread].get());
  };
  pool_.run(stage2_items(params, config), std::cref(stage2));
}

void Executor::flush_caches() {
  if (!flush_) flush_.emplace(static_cast<size_t>(2 * host_cache_bytes()), false);
  constexpr int64_t kChunkWords = (int64_t{1} << 20) / 8;
  const auto* words = reinterpret_cast<const uint64_t*>(flush_->data());
  const int64_t chunks = static_cast<int64_t>(flush_->bytes()) / 8 / kChunkWords;
  std::atomic<uint64_t> sum{0};
  pool_.run(chunks, [&](int64_t chunk, int) {
    sum += read_loop(words + chunk * kChunkWords, kChunkWords);
  });
}

}  // namespace mla::host

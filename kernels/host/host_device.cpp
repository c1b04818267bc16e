// SPDX-License-Identifier: MIT
#include "kernels/host/host_device.h"

#include <chrono>
#include <new>

#include "kernels/error.h"
#include "kernels/host/cpu_info.h"
#include "kernels/host/guarded_buffer.h"
#include "kernels/host/host_executor.h"
#include "kernels/spaces.h"
#include "kernels/text.h"

namespace mla::host {
namespace {

constexpr int64_t kMaxThreads = 1024;

class HostProblem : public LoadedProblem {
 public:
  HostProblem(std::shared_ptr<const Workload> workload, const Space& space, Executor* executor)
      : workload_(std::move(workload)), space_(space), executor_(*executor) {
    const DecodeParams params = workload_->params();
    const auto rows = static_cast<size_t>(params.batch) * params.q_len * params.nhead;
    out_count_ = rows * kValueDim;
    lse_count_ = rows;
    const int32_t most_splits = space_.range(Knob::kSplits).search.back();
    try {
      out_.poison(out_count_ * sizeof(uint16_t));
      lse_.poison(lse_count_ * sizeof(float));
      workspace_.reserve(workspace_size(most_splits));
    } catch (const std::bad_alloc&) {
      throw Error(
          ErrorCode::kDevice,
          "no memory for the outputs and the workspace of " + to_text(workload_->problem()));
    }
  }

  const Workload& workload() const override { return *workload_; }

  Outcome run(const KernelConfig& config) override {
    const Outcome ready = prepare(config);
    if (!ready.ok()) return ready;
    out_.poison(out_count_ * sizeof(uint16_t));
    lse_.poison(lse_count_ * sizeof(float));
    workspace_.poison(workspace_size(config.splits));
    executor_.launch(params(), config);
    if (!out_.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the output"};
    if (!lse_.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the LSE"};
    if (!workspace_.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the workspace"};
    return {};
  }

  TimedRun time_cold(const KernelConfig& config) override {
    const Outcome ready = prepare(config);
    if (!ready.ok()) return {ready, 0};
    const DecodeParams launch = params();
    executor_.flush_caches();
    const auto begin = std::chrono::steady_clock::now();
    executor_.launch(launch, config);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    return {{}, time.count()};
  }

  void read_output(std::vector<uint16_t>* out, std::vector<float>* lse) override {
    const auto* values = static_cast<const uint16_t*>(out_.data());
    out->assign(values, values + out_count_);
    const auto* sums = static_cast<const float*>(lse_.data());
    lse->assign(sums, sums + lse_count_);
  }

 private:
  // Whether the configuration may run, and its workspace: a legal number of splits can be more than
  // the search visits.
  Outcome prepare(const KernelConfig& config) {
    const auto violation = space_.violation(workload_->problem(), config);
    if (violation) return {OutcomeKind::kOverLimits, *violation};
    try {
      workspace_.reserve(workspace_size(config.splits));
    } catch (const std::bad_alloc&) {
      return {OutcomeKind::kOutOfMemory,
              std::to_string(workspace_size(config.splits)) + " bytes of workspace"};
    }
    return {};
  }

  size_t workspace_size(int32_t splits) const {
    const Problem& problem = workload_->problem();
    return static_cast<size_t>(
        workspace_bytes(problem.batch, problem.q_len, problem.nhead, splits));
  }

  DecodeParams params() const {
    DecodeParams params = workload_->params();
    params.out = static_cast<uint16_t*>(out_.data());
    params.lse = static_cast<float*>(lse_.data());
    params.workspace = workspace_.data();
    return params;
  }

  std::shared_ptr<const Workload> workload_;
  const Space& space_;
  Executor& executor_;
  size_t out_count_ = 0;
  size_t lse_count_ = 0;
  GuardedBuffer out_, lse_, workspace_;
};

class HostDevice : public Device {
 public:
  explicit HostDevice(const HostOptions& options)
      : space_(make_space(host_device_info(options))),
        executor_(find_kernels(options.isa), space_.device().compute_units) {}

  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }

  std::unique_ptr<LoadedProblem> load(std::shared_ptr<const Workload> workload) override {
    return std::make_unique<HostProblem>(std::move(workload), space_, &executor_);
  }

 private:
  Space space_;
  Executor executor_;
};

class HostLauncher : public DecodeLauncher {
 public:
  explicit HostLauncher(const HostOptions& options)
      : space_(make_space(host_device_info(options))),
        executor_(find_kernels(options.isa), space_.device().compute_units) {}

  const Space& space() const override { return space_; }
  int64_t row_alignment() const override { return alignof(uint16_t); }

  Outcome launch(const DecodeParams& params, const KernelConfig& config, void* stream) override {
    if (stream != nullptr) throw Error(ErrorCode::kUsage, "stream: a CPU has none, pass null");
    executor_.launch(params, config);
    return {};
  }

 private:
  Space space_;
  Executor executor_;
};

}  // namespace

HostOptions parse_host_spec(const std::string& spec) {
  HostOptions options;
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kUsage, "device " + in_quotes(spec) + ": " + why);
  };
  if (spec == "cpu") return options;
  if (spec.rfind("cpu:", 0) != 0) fail("expected cpu, cpu:threads=N or cpu:isa=highway|bf16");
  std::string_view rest = std::string_view(spec).substr(4);
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    int64_t threads = 0;
    if (word.rfind("threads=", 0) == 0) {
      if (!parse_int(word.substr(8), &threads) || threads < 1 || threads > kMaxThreads) {
        fail("threads must be 1.." + std::to_string(kMaxThreads));
      }
      options.threads = static_cast<int>(threads);
    } else if (word == "isa=highway" || word == "isa=bf16") {
      options.isa = word.substr(4);
    } else {
      fail("unknown option " + in_quotes(word) + "; there are threads=N and isa=highway|bf16");
    }
    if (comma == std::string_view::npos) return options;
    rest.remove_prefix(comma + 1);
  }
}

DeviceInfo host_device_info(const HostOptions& options) {
  DeviceInfo info;
  info.name = cpu_name();
  info.arch = cpu_arch();
  info.compute_units = options.threads > 0 ? options.threads : usable_threads();
  info.memory_bytes = physical_memory_bytes();
  info.last_level_cache_bytes = listed_cache_bytes();
  return info;
}

std::unique_ptr<Device> open_host_device(const HostOptions& options) {
  return std::make_unique<HostDevice>(options);
}

std::unique_ptr<DecodeLauncher> open_host_launcher(const HostOptions& options) {
  return std::make_unique<HostLauncher>(options);
}

}  // namespace mla::host

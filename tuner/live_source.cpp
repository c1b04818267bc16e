// SPDX-License-Identifier: MIT
#include "tuner/live_source.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "kernels/error.h"
#include "kernels/workload_reference.h"
#include "tuner/build_info.h"

namespace mla::tuner {
namespace {

// A reference row costs seq_len x (576 + 512) float64 multiply-adds, about 0.05 s at 68,000 rows.
// Within this many of them the reference takes a small part of a shape's tuning.
constexpr double kReferenceMacs = 1e8;
constexpr int64_t kMinReferenceRows = 4;
constexpr int64_t kMaxReferenceRows = 64;
// References of fewer rows took long and are small, 100 KB at most: they are kept for the problem's
// crossing.
constexpr int64_t kKeptReferenceRows = 24;

int64_t reference_rows(const Workload& workload) {
  const double row_macs =
      static_cast<double>(std::max<int64_t>(workload.max_length(), 1)) * (kHeadDim + kValueDim);
  return std::clamp(
      static_cast<int64_t>(kReferenceMacs / row_macs), kMinReferenceRows, kMaxReferenceRows);
}

// Warm: the last kWarmWindow samples lie within kWarmSpread of each other. The bounds are for a
// machine that never gets quiet; rounds are paired, so what drift is left cancels.
constexpr size_t kWarmWindow = 5;
constexpr double kWarmSpread = 0.03;
constexpr size_t kWarmSamples = 40;
constexpr std::chrono::milliseconds kWarmTime{1500};

bool is_stable(const std::vector<double>& times_us) {
  if (times_us.size() < kWarmWindow) return false;
  const auto [low, high] = std::minmax_element(times_us.end() - kWarmWindow, times_us.end());
  return *high <= *low * (1 + kWarmSpread);
}

std::string compiler_text() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

db::Environment local_environment(const DeviceSoftware& software) {
  utsname system{};
  uname(&system);
  db::Environment environment;
  environment.driver = software.driver;
  if (environment.driver.empty()) {
    environment.driver = std::string(system.sysname) + " " + system.release;
  }
  environment.runtime = software.runtime;
  if (environment.runtime.empty()) {
    environment.runtime = std::string("glibc ") + gnu_get_libc_version();
  }
  environment.compiler = compiler_text();
  environment.code_hash = kCodeHash;
  environment.tool_version = kToolVersion;
  return environment;
}

LiveSource::LiveSource(std::unique_ptr<Device> device) : device_(std::move(device)) {}

Outcome LiveSource::select(const Problem& problem, uint64_t seed) {
  if (loaded_ && workload_->problem() == problem && workload_->seed() == seed) return {};
  // Freed first: two of the largest workloads need not fit side by side.
  loaded_.reset();
  workload_.reset();
  has_expected_ = kept_on_device_ = false;
  try {
    WorkloadOptions options;
    options.seed = seed;
    options.with_pool = device_->reads_host_pool();
    workload_ = std::make_shared<Workload>(problem, options);
    reference_ = reference(problem, seed);
    loaded_ = device_->load(workload_);
  } catch (const std::bad_alloc&) {
    return {OutcomeKind::kOutOfMemory, "no host memory for the inputs"};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kDevice) throw;
    return {OutcomeKind::kOutOfMemory, error.what()};
  }
  return {};
}

std::vector<ReferenceRow> LiveSource::reference(const Problem& problem, uint64_t seed) {
  if (kept_seed_ != seed) kept_references_.clear();
  kept_seed_ = seed;
  const auto found = kept_references_.find(problem);
  if (found != kept_references_.end()) return found->second;
  const int64_t rows = reference_rows(*workload_);
  std::vector<ReferenceRow> reference = reference_sample(*workload_, rows, seed);
  if (rows < kKeptReferenceRows) kept_references_.emplace(problem, reference);
  return reference;
}

Outcome LiveSource::admit(const KernelConfig& config, bool first) {
  if (!loaded_) throw Error(ErrorCode::kInternal, "admit: no problem is selected");
  if (Outcome outcome = loaded_->run(config); !outcome.ok()) return outcome;
  if (!first) return check_other();
  if (Outcome outcome = check_first(); !outcome.ok()) return outcome;
  warm_up(config);
  return {};
}

// Sampled rows against the reference, and every element for being written.
Outcome LiveSource::check_first() {
  loaded_->read_output(&out_, &lse_);
  const Problem& problem = workload_->problem();
  const Tolerance allowed = tolerance(problem.kv_dtype);
  Outcome outcome =
      check_against_reference(reference_, problem.nhead, out_.data(), lse_.data(), allowed);
  if (!outcome.ok()) return outcome;
  outcome = check_against_output(
      workload_->params(), out_.data(), lse_.data(), out_.data(), lse_.data(), allowed);
  if (!outcome.ok()) return outcome;
  has_expected_ = true;
  kept_on_device_ = loaded_->keep_output();
  std::swap(expected_out_, out_);
  std::swap(expected_lse_, lse_);
  return {};
}

Outcome LiveSource::check_other() {
  if (!has_expected_) {
    throw Error(ErrorCode::kInternal, "admit: no configuration was admitted as the first");
  }
  const Tolerance allowed = tolerance(workload_->problem().kv_dtype);
  if (kept_on_device_) return judge(loaded_->compare_output(), between_outputs(allowed));
  loaded_->read_output(&out_, &lse_);
  return check_against_output(workload_->params(),
                              out_.data(),
                              lse_.data(),
                              expected_out_.data(),
                              expected_lse_.data(),
                              allowed);
}

void LiveSource::warm_up(const KernelConfig& config) {
  const auto end = std::chrono::steady_clock::now() + kWarmTime;
  std::vector<double> times_us;
  while (times_us.size() < kWarmSamples && !is_stable(times_us) &&
         std::chrono::steady_clock::now() < end) {
    const TimedRun timed = loaded_->time_cold(config);
    if (!timed.outcome.ok()) return;  // its first sample will say so again
    times_us.push_back(timed.time_us);
  }
}

TimedRun LiveSource::sample(const KernelConfig& config, const SampleId&) {
  if (!loaded_) throw Error(ErrorCode::kInternal, "sample: no problem is selected");
  const TimedRun timed = loaded_->time_cold(config);
  if (timed.outcome.ok() && !(std::isfinite(timed.time_us) && timed.time_us > 0)) {
    return {{OutcomeKind::kLaunchFailed, "the device's clock gave no time"}, 0};
  }
  return timed;
}

}  // namespace mla::tuner

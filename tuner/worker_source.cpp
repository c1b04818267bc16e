// SPDX-License-Identifier: MIT
#include "tuner/worker_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kernels/error.h"
#include "kernels/spaces.h"

namespace mla::tuner {

WorkerSource::WorkerSource(std::string program, std::string device_spec, const WorkerLimits& limits)
    : program_(std::move(program)), device_spec_(std::move(device_spec)), limits_(limits) {
  hello_ = start();
  space_ = make_space(hello_.device);
}

Hello WorkerSource::start() {
  process_ = std::make_unique<WorkerProcess>(
      program_, std::vector<std::string>{"worker", "--device", device_spec_});
  std::string line;
  switch (process_->channel().read(&line, limits_.start_s)) {
    case LineChannel::Read::kLine:
      return parse_hello(line);
    case LineChannel::Read::kTimeout:
      throw Error(ErrorCode::kDevice,
                  fmt::format("{}: not open after {} s", device_spec_, limits_.start_s));
    case LineChannel::Read::kClosed:
      break;
  }
  throw Error(ErrorCode::kDevice, device_spec_ + ": " + process_->how_it_ended().text);
}

void WorkerSource::ensure_worker() {
  if (process_) return;
  start();
  if (selected_) require_ok(call(*selected_, launch_limit_s()).outcome, "select the problem");
  if (first_) {
    require_ok(call(AdmitRequest{*first_, true}, launch_limit_s()).outcome, "run the default");
  }
}

// What worked before the restart and does not any more is the device's fault and not a candidate's.
void WorkerSource::require_ok(const Outcome& outcome, const char* step) const {
  if (outcome.ok()) return;
  throw Error(
      ErrorCode::kDevice,
      fmt::format("{}: a restarted worker cannot {}: {}", device_spec_, step, outcome.text));
}

Outcome WorkerSource::select(const Problem& problem, uint64_t seed) {
  selected_.reset();
  first_.reset();
  first_sample_s_ = 0;
  ensure_worker();
  selected_ = SelectRequest{problem, seed};
  const Outcome outcome = call(*selected_, launch_limit_s()).outcome;
  if (!outcome.ok()) selected_.reset();
  return outcome;
}

Outcome WorkerSource::admit(const KernelConfig& config, bool first) {
  if (first) first_.reset();
  ensure_worker();
  const Outcome outcome = call(AdmitRequest{config, first}, launch_limit_s()).outcome;
  if (first && outcome.ok()) first_ = config;
  return outcome;
}

TimedRun WorkerSource::sample(const KernelConfig& config, const SampleId&) {
  ensure_worker();
  const auto begin = std::chrono::steady_clock::now();
  const TimedRun sample = call(SampleRequest{config}, sample_limit_s());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (sample.outcome.ok() && first_ == config) {
    first_sample_s_ = std::max(first_sample_s_, took.count());
  }
  return sample;
}

TimedRun WorkerSource::call(const Request& request, double limit_s) {
  std::string line;
  process_->forget_output();
  const auto read = process_->channel().write(to_line(request))
                        ? process_->channel().read(&line, limit_s)
                        : LineChannel::Read::kClosed;
  if (read == LineChannel::Read::kLine) {
    try {
      return parse_answer(line);
    } catch (const Error& error) {
      process_.reset();
      if (error.code() == ErrorCode::kUsage) throw;
      // The device is lost to that process, or the process does not know what it says any more.
      return {{OutcomeKind::kFault, error.what()}, 0};
    }
  }
  Outcome outcome = read == LineChannel::Read::kTimeout
                        ? Outcome{OutcomeKind::kHang, fmt::format("no answer in {:.3g} s", limit_s)}
                        : process_->how_it_ended();
  process_.reset();
  return {outcome, 0};
}

double WorkerSource::launch_limit_s() const {
  const double flops = selected_ ? decode_flops(selected_->problem) : 0;
  return limits_.base_s + flops / limits_.flops_per_s;
}

double WorkerSource::sample_limit_s() const {
  if (first_sample_s_ <= 0) return launch_limit_s();
  return std::max(limits_.sample_s, limits_.sample_factor * first_sample_s_);
}

}  // namespace mla::tuner

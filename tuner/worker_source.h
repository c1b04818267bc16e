// SPDX-License-Identifier: MIT
// Measures through a worker process, so that a candidate that crashes or hangs is an outcome. After
// either the worker is replaced, and before anything else is measured the new one selects the
// problem and admits (and so warms up with) the first configuration again.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tuner/source.h"
#include "tuner/worker_process.h"
#include "tuner/worker_protocol.h"

namespace mla::tuner {

// How long the worker may take, counted from the request.
struct WorkerLimits {
  double start_s = 60;  // open the device
  // select and admit: this, and the operations of one launch at the rate below. A sampled reference
  // in scalar float64 and a sanitizer build are the slowest that is still at work.
  double base_s = 30;
  double flops_per_s = 1e9;
  // A sample: this, or so many times what a sample of the first configuration took (with its cache
  // flush).
  double sample_s = 1;
  double sample_factor = 50;
};

class WorkerSource : public CandidateSource {
 public:
  // `program` understands `worker --device SPEC --parent PID`. Throws Error(kDevice) or (kUsage)
  // where the device cannot be opened.
  WorkerSource(std::string program, std::string device_spec, const WorkerLimits& limits = {});

  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }
  db::Environment environment() const override { return hello_.environment; }

  // All three throw Error(kDevice) where a worker cannot be brought back to measuring.
  Outcome select(const Problem& problem, uint64_t seed) override;
  Outcome admit(const KernelConfig& config, bool first) override;
  TimedRun sample(const KernelConfig& config, const SampleId& id) override;

  // For tests. -1: no worker at the moment.
  pid_t worker_pid() const { return process_ ? process_->pid() : -1; }

 private:
  Hello start();
  void ensure_worker();
  void require_ok(const Outcome& outcome, const char* step) const;
  TimedRun call(const Request& request, double limit_s);
  double launch_limit_s() const;
  double sample_limit_s() const;

  std::string program_;
  std::string device_spec_;
  WorkerLimits limits_;
  std::unique_ptr<WorkerProcess> process_;  // null after a fault or a hang, until the next request
  Hello hello_;
  Space space_;
  std::optional<SelectRequest> selected_;
  std::optional<KernelConfig> first_;  // once admitted
  double first_sample_s_ = 0;          // longest sample of it so far; 0: none yet
};

}  // namespace mla::tuner

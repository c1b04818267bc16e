// SPDX-License-Identifier: MIT
// Measures on a device of this process. Nothing here survives a crash or a hang of a candidate:
// `mla-tune worker` holds one of these, and WorkerSource is what the tuner talks to.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "kernels/device.h"
#include "kernels/reference.h"
#include "tuner/source.h"

namespace mla::tuner {

// The machine and the build that measure here: of a CPU. A GPU's own software takes the place of
// the operating system's.
db::Environment local_environment(const DeviceSoftware& software = {});

class LiveSource : public CandidateSource {
 public:
  explicit LiveSource(std::unique_ptr<Device> device);

  const DeviceInfo& info() const override { return device_->info(); }
  const Space& space() const override { return device_->space(); }
  db::Environment environment() const override { return local_environment(device_->software()); }

  // Builds the inputs and the sampled float64 reference, or keeps both where (problem, seed) is the
  // current one. A workload that does not fit is kOutOfMemory.
  Outcome select(const Problem& problem, uint64_t seed) override;

  // The first configuration also warms the device up, since only a checked one is safe to repeat.
  Outcome admit(const KernelConfig& config, bool first) override;

  TimedRun sample(const KernelConfig& config, const SampleId& id) override;

 private:
  Outcome check_first();
  Outcome check_other();
  void warm_up(const KernelConfig& config);
  // Of the current workload.
  std::vector<ReferenceRow> reference(const Problem& problem, uint64_t seed);

  std::unique_ptr<Device> device_;
  std::shared_ptr<const Workload> workload_;
  std::unique_ptr<LoadedProblem> loaded_;
  std::vector<ReferenceRow> reference_;
  std::unordered_map<Problem, std::vector<ReferenceRow>> kept_references_;  // of kept_seed_
  uint64_t kept_seed_ = 0;
  bool has_expected_ = false;                 // the first was admitted
  bool kept_on_device_ = false;               // and others are compared there
  std::vector<uint16_t> out_, expected_out_;  // [tokens, nhead, 512] bf16; expected: of the first
  std::vector<float> lse_, expected_lse_;     // [tokens, nhead]
};

}  // namespace mla::tuner

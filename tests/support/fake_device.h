// SPDX-License-Identifier: MIT
// A device for tests of the measuring path: right outputs (from the float64 reference), times that
// follow from the configuration, and nothing that takes time to open.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/bf16.h"
#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/reference.h"
#include "kernels/spaces.h"

namespace mla::test {

class FakeProblem : public LoadedProblem {
 public:
  explicit FakeProblem(std::shared_ptr<const Workload> workload)
      : workload_(std::move(workload)),
        rows_(reference_sample(workload_->params(), INT64_MAX, workload_->seed())) {}

  const Workload& workload() const override { return *workload_; }
  Outcome run(const KernelConfig&) override { return {}; }
  TimedRun time_cold(const KernelConfig& config) override {
    return {{}, 1000.0 / config.splits + 10.0 * config.splits};
  }
  void read_output(std::vector<uint16_t>* out, std::vector<float>* lse) override {
    out->clear();
    lse->clear();
    for (const ReferenceRow& row : rows_) {
      for (const double value : row.out) out->push_back(float_to_bf16(static_cast<float>(value)));
      lse->push_back(static_cast<float>(row.lse));
    }
  }

 private:
  std::shared_ptr<const Workload> workload_;
  std::vector<ReferenceRow> rows_;  // every (token, head), in order
};

class FakeDevice : public Device {
 public:
  FakeDevice() {
    DeviceInfo info;
    info.name = "fake";
    info.arch = "x86-64";
    info.compute_units = 4;
    space_ = make_space(info);
  }

  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }
  std::unique_ptr<LoadedProblem> load(std::shared_ptr<const Workload> workload) override {
    ++loads;
    if (full) throw Error(ErrorCode::kDevice, "10 GiB do not fit into 8 GiB");
    return std::make_unique<FakeProblem>(std::move(workload));
  }

  int loads = 0;
  bool full = false;

 private:
  Space space_;
};

}  // namespace mla::test

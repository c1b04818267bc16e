// SPDX-License-Identifier: MIT
// One workload resident on a GPU. The pool is filled there: NaN everywhere, then the rows in use by
// the hash of fill_base_row, then the spikes.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/device.h"
#include "kernels/hip/hip_executor.cuh"

namespace mla::hip {

class HipProblem : public LoadedProblem {
 public:
  HipProblem(std::shared_ptr<const Workload> workload, const Space& space, HipExecutor* executor);
  ~HipProblem() override;

  const Workload& workload() const override { return *workload_; }
  Outcome run(const KernelConfig& config) override;
  TimedRun time_cold(const KernelConfig& config) override;
  void read_output(std::vector<uint16_t>* out, std::vector<float>* lse) override;
  bool keep_output() override;
  OutputErrors compare_output() override;

  // Cold time of the gather alone.
  TimedRun time_copy_only(const KernelConfig& config);
  const Space& space() const { return space_; }

 private:
  void fill_pool();
  // Whether the configuration may run, and its captured launch.
  Outcome prepare(const KernelConfig& config, const Graph** graph);
  size_t workspace_size(int32_t splits) const;

  std::shared_ptr<const Workload> workload_;
  const Space& space_;
  HipExecutor& executor_;
  DecodeParams params_;
  size_t out_bytes_ = 0;
  size_t lse_bytes_ = 0;
  ProblemMemory memory_;
  std::map<KernelConfig, Graph> graphs_;
};

}  // namespace mla::hip

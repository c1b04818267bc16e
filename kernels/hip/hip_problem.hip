// SPDX-License-Identifier: MIT
#include "kernels/hip/hip_problem.cuh"

#include <algorithm>

#include "kernels/gpu/compare_kernels.cuh"
#include "kernels/gpu/pool_kernels.cuh"

namespace mla::hip {

HipProblem::HipProblem(std::shared_ptr<const Workload> workload,
                       const Space& space,
                       HipExecutor* executor)
    : workload_(std::move(workload)),
      space_(space),
      executor_(*executor),
      params_(workload_->params()) {
  executor_.lend(&memory_);
  const std::string what = to_text(workload_->problem());
  const auto rows = static_cast<size_t>(params_.batch) * params_.q_len * params_.nhead;
  out_bytes_ = rows * kValueDim * sizeof(uint16_t);
  lse_bytes_ = rows * sizeof(float);
  memory_.q.upload(workload_->q(), what);
  memory_.indptr.upload(workload_->kv_indptr(), what);
  memory_.indices.upload(workload_->kv_indices(), what);
  memory_.last_page_len.upload(workload_->last_page_len(), what);
  memory_.out.require(out_bytes_, what);
  memory_.lse.require(lse_bytes_, what);
  memory_.workspace.require(workspace_size(space_.range(Knob::kSplits).search.back()), what);
  params_.q = memory_.q.as<const uint16_t>();
  params_.kv_indptr = memory_.indptr.as<const int32_t>();
  params_.kv_indices = memory_.indices.as<const int32_t>();
  params_.last_page_len = memory_.last_page_len.as<const int32_t>();
  params_.out = memory_.out.as<uint16_t>();
  params_.lse = memory_.lse.as<float>();
  params_.workspace = memory_.workspace.as<void>();
  fill_pool();
}

HipProblem::~HipProblem() {
  executor_.take_back(&memory_);
}

void HipProblem::fill_pool() {
  const Problem& problem = workload_->problem();
  const int64_t bytes_a_row = row_bytes(problem.kv_dtype);
  const auto bytes = static_cast<size_t>(workload_->pool_pages() * problem.page_size * bytes_a_row);
  memory_.pool.require(bytes, "KV pool");
  params_.kv = memory_.pool.as<void>();
  const hipStream_t stream = executor_.stream().get();
  check(hipMemsetAsync(memory_.pool.as<void>(), 0xFF, bytes, stream), "KV pool");
  check(gpu::fill_requests(workload_->seed(), params_, memory_.pool.as<void>(), stream), "KV pool");

  std::vector<int64_t> rows;
  std::vector<uint8_t> contents;
  for (const Workload::SpikeRow& spike : workload_->spikes()) {
    rows.push_back(spike.pool_row);
    contents.insert(contents.end(), spike.bytes.begin(), spike.bytes.end());
  }
  memory_.spike_rows.upload(rows, "KV pool");
  memory_.spike_bytes.upload(contents, "KV pool");
  check(gpu::scatter_rows(memory_.spike_bytes.as<void>(),
                          memory_.spike_rows.as<int64_t>(),
                          static_cast<int64_t>(rows.size()),
                          bytes_a_row,
                          memory_.pool.as<void>(),
                          stream),
        "KV pool");
  executor_.stream().wait();
}

size_t HipProblem::workspace_size(int32_t splits) const {
  const Problem& problem = workload_->problem();
  return static_cast<size_t>(workspace_bytes(problem.batch, problem.q_len, problem.nhead, splits));
}

Outcome HipProblem::prepare(const KernelConfig& config, const Graph** graph) {
  const auto violation = space_.violation(workload_->problem(), config);
  if (violation) return {OutcomeKind::kOverLimits, *violation};
  const Outcome room = memory_.workspace.reserve(workspace_size(config.splits));
  if (!room.ok()) return room;
  if (memory_.workspace.as<void>() !=
      params_.workspace) {  // it has grown: captured pointers are stale
    graphs_.clear();
    params_.workspace = memory_.workspace.as<void>();
  }
  const auto found = graphs_.find(config);
  if (found != graphs_.end()) {
    *graph = &found->second;
    return {};
  }
  Graph captured;
  const Outcome outcome = captured.capture(executor_.stream(), [&] {
    return executor_.launcher().decode(params_, config, executor_.stream().get());
  });
  if (outcome.ok()) *graph = &graphs_.emplace(config, std::move(captured)).first->second;
  return outcome;
}

Outcome HipProblem::run(const KernelConfig& config) {
  const Graph* graph = nullptr;
  const Outcome ready = prepare(config, &graph);
  if (!ready.ok()) return ready;
  const hipStream_t stream = executor_.stream().get();
  memory_.out.poison(out_bytes_, stream);
  memory_.lse.poison(lse_bytes_, stream);
  memory_.workspace.poison(workspace_size(config.splits), stream);
  const Outcome launched = launch_outcome(graph->replay(executor_.stream()));
  if (!launched.ok()) return launched;
  executor_.stream().wait();
  if (!memory_.out.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the output"};
  if (!memory_.lse.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the LSE"};
  if (!memory_.workspace.intact())
    return {OutcomeKind::kWrong, "wrote behind the end of the workspace"};
  return {};
}

TimedRun HipProblem::time_cold(const KernelConfig& config) {
  const Graph* graph = nullptr;
  const Outcome ready = prepare(config, &graph);
  if (!ready.ok()) return {ready, 0};
  return {{}, executor_.time_cold_us(*graph)};
}

TimedRun HipProblem::time_copy_only(const KernelConfig& config) {
  Graph graph;
  const Outcome captured = graph.capture(executor_.stream(), [&] {
    return executor_.launcher().copy_only(params_, config, executor_.stream().get());
  });
  if (!captured.ok()) return {captured, 0};
  return {{}, executor_.time_cold_us(graph)};
}

void HipProblem::read_output(std::vector<uint16_t>* out, std::vector<float>* lse) {
  out->resize(out_bytes_ / sizeof(uint16_t));
  lse->resize(lse_bytes_ / sizeof(float));
  check(hipMemcpy(out->data(), memory_.out.as<void>(), out_bytes_, hipMemcpyDeviceToHost),
        "output");
  check(hipMemcpy(lse->data(), memory_.lse.as<void>(), lse_bytes_, hipMemcpyDeviceToHost),
        "output");
}

bool HipProblem::keep_output() {
  const hipStream_t stream = executor_.stream().get();
  memory_.kept_out.require(out_bytes_, "kept output");
  memory_.kept_lse.require(lse_bytes_, "kept output");
  memory_.row_errors.require(lse_bytes_ / sizeof(float) * sizeof(gpu::RowErrors), "kept output");
  const auto copy = [&](const DeviceMemory& from, const DeviceMemory& to, size_t bytes) {
    check(hipMemcpyAsync(to.as<void>(), from.as<void>(), bytes, hipMemcpyDeviceToDevice, stream),
          "kept output");
  };
  copy(memory_.out, memory_.kept_out, out_bytes_);
  copy(memory_.lse, memory_.kept_lse, lse_bytes_);
  executor_.stream().wait();
  return true;
}

OutputErrors HipProblem::compare_output() {
  const size_t rows = lse_bytes_ / sizeof(float);
  const gpu::OutputPair pair = {memory_.out.as<const uint16_t>(),
                                memory_.lse.as<const float>(),
                                memory_.kept_out.as<const uint16_t>(),
                                memory_.kept_lse.as<const float>()};
  auto* on_device = memory_.row_errors.as<gpu::RowErrors>();
  check(gpu::compare_rows(pair, static_cast<int64_t>(rows), on_device, executor_.stream().get()),
        "comparison");
  executor_.stream().wait();
  std::vector<gpu::RowErrors> errors(rows);
  check(hipMemcpy(errors.data(), on_device, rows * sizeof errors[0], hipMemcpyDeviceToHost),
        "comparison");
  OutputErrors worst;
  const int64_t nhead = workload_->problem().nhead;
  for (size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<int64_t>(i);
    worst.output.see(errors[i].output, row / nhead, row % nhead);
    worst.lse.see(errors[i].lse, row / nhead, row % nhead);
  }
  return worst;
}

}  // namespace mla::hip

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
  executor_.lend(&pool_, &workspace_);
  const std::string what = to_text(workload_->problem());
  const auto rows = static_cast<size_t>(params_.batch) * params_.q_len * params_.nhead;
  out_bytes_ = rows * kValueDim * sizeof(uint16_t);
  lse_bytes_ = rows * sizeof(float);
  q_.upload(workload_->q(), what);
  indptr_.upload(workload_->kv_indptr(), what);
  indices_.upload(workload_->kv_indices(), what);
  last_page_len_.upload(workload_->last_page_len(), what);
  out_.require(out_bytes_, what);
  lse_.require(lse_bytes_, what);
  workspace_.require(workspace_size(space_.range(Knob::kSplits).search.back()), what);
  params_.q = q_.as<const uint16_t>();
  params_.kv_indptr = indptr_.as<const int32_t>();
  params_.kv_indices = indices_.as<const int32_t>();
  params_.last_page_len = last_page_len_.as<const int32_t>();
  params_.out = out_.as<uint16_t>();
  params_.lse = lse_.as<float>();
  params_.workspace = workspace_.as<void>();
  fill_pool();
}

HipProblem::~HipProblem() {
  executor_.take_back(&pool_, &workspace_);
}

void HipProblem::fill_pool() {
  const Problem& problem = workload_->problem();
  const auto bytes = static_cast<size_t>(workload_->pool_pages() * problem.page_size *
                                         row_bytes(problem.kv_dtype));
  pool_.require(bytes, "KV pool");
  const hipStream_t stream = executor_.stream().get();
  check(hipMemsetAsync(pool_.as<void>(), 0xFF, bytes, stream), "KV pool");

  const std::vector<int64_t> rows = pool_rows();
  DeviceMemory row_list;
  row_list.upload(rows, "KV pool");
  void* pool = pool_.as<void>();
  check(gpu::fill_rows(workload_->seed(),
                       row_list.as<int64_t>(),
                       static_cast<int64_t>(rows.size()),
                       problem.kv_dtype,
                       pool,
                       stream),
        "KV pool");

  std::vector<int64_t> spike_rows;
  std::vector<uint8_t> spike_bytes;
  for (const Workload::SpikeRow& spike : workload_->spikes()) {
    spike_rows.push_back(spike.pool_row);
    spike_bytes.insert(spike_bytes.end(), spike.bytes.begin(), spike.bytes.end());
  }
  DeviceMemory spike_list, spike_source;
  spike_list.upload(spike_rows, "KV pool");
  spike_source.upload(spike_bytes, "KV pool");
  check(gpu::scatter_rows(spike_source.as<void>(),
                          spike_list.as<int64_t>(),
                          static_cast<int64_t>(spike_rows.size()),
                          row_bytes(problem.kv_dtype),
                          pool,
                          stream),
        "KV pool");
  executor_.stream().wait();
  params_.kv = pool;
}

std::vector<int64_t> HipProblem::pool_rows() const {
  const int64_t page_size = workload_->problem().page_size;
  const std::vector<int32_t>& indptr = workload_->kv_indptr();
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(indptr.back() * page_size));
  for (size_t b = 0; b + 1 < indptr.size(); ++b) {
    int64_t left = workload_->lengths()[b];
    for (int32_t entry = indptr[b]; entry < indptr[b + 1]; ++entry, left -= page_size) {
      const int64_t first = workload_->kv_indices()[static_cast<size_t>(entry)] * page_size;
      for (int64_t n = 0; n < std::min(left, page_size); ++n) rows.push_back(first + n);
    }
  }
  return rows;
}

size_t HipProblem::workspace_size(int32_t splits) const {
  const Problem& problem = workload_->problem();
  return static_cast<size_t>(workspace_bytes(problem.batch, problem.q_len, problem.nhead, splits));
}

Outcome HipProblem::prepare(const KernelConfig& config, const Graph** graph) {
  const auto violation = space_.violation(workload_->problem(), config);
  if (violation) return {OutcomeKind::kOverLimits, *violation};
  const Outcome room = workspace_.reserve(workspace_size(config.splits));
  if (!room.ok()) return room;
  if (workspace_.as<void>() != params_.workspace) {  // it has grown: captured pointers are stale
    graphs_.clear();
    params_.workspace = workspace_.as<void>();
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
  out_.poison(out_bytes_, stream);
  lse_.poison(lse_bytes_, stream);
  workspace_.poison(workspace_size(config.splits), stream);
  const Outcome launched = launch_outcome(graph->replay(executor_.stream()));
  if (!launched.ok()) return launched;
  executor_.stream().wait();
  if (!out_.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the output"};
  if (!lse_.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the LSE"};
  if (!workspace_.intact()) return {OutcomeKind::kWrong, "wrote behind the end of the workspace"};
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
  check(hipMemcpy(out->data(), out_.as<void>(), out_bytes_, hipMemcpyDeviceToHost), "output");
  check(hipMemcpy(lse->data(), lse_.as<void>(), lse_bytes_, hipMemcpyDeviceToHost), "output");
}

bool HipProblem::keep_output() {
  const hipStream_t stream = executor_.stream().get();
  kept_out_.require(out_bytes_, "kept output");
  kept_lse_.require(lse_bytes_, "kept output");
  row_errors_.require(lse_bytes_ / sizeof(float) * sizeof(gpu::RowErrors), "kept output");
  const auto copy = [&](const DeviceMemory& from, const DeviceMemory& to, size_t bytes) {
    check(hipMemcpyAsync(to.as<void>(), from.as<void>(), bytes, hipMemcpyDeviceToDevice, stream),
          "kept output");
  };
  copy(out_, kept_out_, out_bytes_);
  copy(lse_, kept_lse_, lse_bytes_);
  executor_.stream().wait();
  return true;
}

OutputErrors HipProblem::compare_output() {
  const size_t rows = lse_bytes_ / sizeof(float);
  const gpu::OutputPair pair = {out_.as<const uint16_t>(),
                                lse_.as<const float>(),
                                kept_out_.as<const uint16_t>(),
                                kept_lse_.as<const float>()};
  auto* on_device = row_errors_.as<gpu::RowErrors>();
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

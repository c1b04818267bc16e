// SPDX-License-Identifier: MIT
#include "tools/bench_op.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/host/host_device.h"
#include "kernels/host/host_kernels.h"
#include "kernels/workload_reference.h"
#include "policy/default_policy.h"

namespace mla::tools {
namespace {

constexpr int64_t kCheckedRows = 8;

// A leg with its inputs on the device and the times so far.
struct LoadedLeg {
  std::unique_ptr<LoadedProblem> loaded;
  std::vector<double> times_us;
};

// Equal problems share one workload: a pool can take most of the memory.
std::shared_ptr<const Workload> share_workload(
    std::vector<std::shared_ptr<const Workload>>* workloads,
    const Problem& problem,
    uint64_t seed) {
  for (const auto& workload : *workloads) {
    if (workload->problem() == problem) return workload;
  }
  WorkloadOptions options;
  options.seed = seed;
  workloads->push_back(std::make_shared<Workload>(problem, options));
  return workloads->back();
}

double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const size_t low = static_cast<size_t>(position);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (position - static_cast<double>(low));
}

void set_rates(const BenchLeg& leg, std::vector<double> times_us, BenchOpRow* row) {
  if (times_us.empty()) return;
  std::sort(times_us.begin(), times_us.end());
  row->rounds = static_cast<int>(times_us.size());
  row->time_us = quantile(times_us, 0.5);
  row->time_low_us = quantile(times_us, 0.25);
  row->time_high_us = quantile(times_us, 0.75);
  const double bytes = min_kv_bytes(leg.problem);
  const double flops = decode_flops(leg.problem);
  row->gflop_s = flops / row->time_us * 1e-3;  // operations a microsecond are 10^-3 GFLOP/s
  row->gb_s = bytes / row->time_us * 1e-3;
  if (leg.read_gb_s <= 0 || leg.compute_gflop_s <= 0) return;
  const double read_us = bytes / leg.read_gb_s * 1e-3;
  const double compute_us = flops / leg.compute_gflop_s * 1e-3;
  row->floor_us = std::max(read_us, compute_us);
  row->bound = read_us > compute_us ? "read" : "compute";
  row->share = row->floor_us / row->time_us;
}

}  // namespace

Outcome check_once(LoadedProblem& loaded, const KernelConfig& config, uint64_t seed) {
  const Outcome outcome = loaded.run(config);
  if (!outcome.ok()) return outcome;
  std::vector<uint16_t> out;
  std::vector<float> lse;
  loaded.read_output(&out, &lse);
  const Workload& workload = loaded.workload();
  return check_against_reference(reference_sample(workload, kCheckedRows, seed),
                                 workload.problem().nhead,
                                 out.data(),
                                 lse.data(),
                                 tolerance(workload.problem().kv_dtype));
}

std::vector<BenchOpRow> bench_op(const std::vector<BenchLeg>& legs, const BenchOpOptions& options) {
  std::vector<BenchOpRow> rows;
  std::vector<LoadedLeg> loaded;
  std::vector<std::shared_ptr<const Workload>> workloads;
  for (const BenchLeg& leg : legs) {
    BenchOpRow row;
    row.label = leg.label;
    row.problem = leg.problem;
    row.config = leg.config;
    loaded.push_back({leg.device->load(share_workload(&workloads, leg.problem, options.seed)), {}});
    row.outcome = check_once(*loaded.back().loaded, leg.config, options.seed);
    rows.push_back(std::move(row));
  }
  const int64_t samples = int64_t{options.rounds} * static_cast<int64_t>(legs.size());
  int64_t done = 0;
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t position = 0; position < legs.size(); ++position) {
      const size_t i = (position + static_cast<size_t>(round)) % legs.size();
      if (options.progress) options.progress(done, samples);
      ++done;
      if (!rows[i].outcome.ok()) continue;
      const TimedRun run = loaded[i].loaded->time_cold(legs[i].config);
      rows[i].outcome = run.outcome;
      if (run.outcome.ok()) loaded[i].times_us.push_back(run.time_us);
    }
  }
  for (size_t i = 0; i < legs.size(); ++i) set_rates(legs[i], loaded[i].times_us, &rows[i]);
  return rows;
}

HostBench bench_host(const std::string& spec,
                     const std::vector<Problem>& problems,
                     const BenchOpOptions& options) {
  host::HostOptions host = host::parse_host_spec(spec);
  HostBench bench;
  bench.device = host::host_device_info(host);
  bench.rates = probe_host(bench.device.compute_units);

  std::vector<std::string> sets = {"highway"};
  if (host::bf16_kernels() != nullptr) sets.emplace_back("bf16");
  if (!host.isa.empty()) sets = {host.isa};
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<BenchLeg> legs;
  for (const std::string& isa : sets) {
    host.isa = isa;
    devices.push_back(host::open_host_device(host));
    const policy::DefaultPolicy default_policy(devices.back()->space());
    for (const Problem& problem : problems) {
      BenchLeg leg;
      leg.label = isa;
      leg.device = devices.back().get();
      leg.problem = problem;
      leg.config = default_policy(problem);
      leg.read_gb_s = bench.rates.read_gb_s;
      leg.compute_gflop_s = isa == "bf16" ? bench.rates.bf16_dot_gflop_s : bench.rates.fp32_gflop_s;
      legs.push_back(std::move(leg));
    }
  }
  bench.rows = bench_op(legs, options);
  return bench;
}

}  // namespace mla::tools

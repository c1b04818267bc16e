// SPDX-License-Identifier: MIT
#include "tools/roof.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernels/error.h"
#include "tools/bench_op.h"

namespace mla::tools {
namespace {

// For the choice of the gather's shape alone; its time is measured again beside the decode.
constexpr int kCopyOnlyRounds = 5;

// Decode and copy-only, each first in every other round. False where either failed, which is then
// the outcome of the row.
bool measure_round(LoadedProblem& loaded,
                   RoofProbes& roofs,
                   int round,
                   RoofRow* row,
                   std::vector<double>* times_us,
                   std::vector<double>* copy_us) {
  double pair_us[2] = {};
  for (int i = 0; i < 2; ++i) {
    const bool decode = (round + i) % 2 == 0;
    const TimedRun run = decode ? loaded.time_cold(row->config.config)
                                : roofs.time_copy_only(loaded, row->copy_only_config);
    if (!run.outcome.ok()) {
      row->outcome = run.outcome;
      return false;
    }
    pair_us[decode ? 0 : 1] = run.time_us;
  }
  times_us->push_back(pair_us[0]);
  copy_us->push_back(pair_us[1]);
  return true;
}

// Null and an outcome where it does not fit.
std::unique_ptr<LoadedProblem> load_shape(Device& device,
                                          const Problem& problem,
                                          uint64_t seed,
                                          Outcome* outcome) {
  WorkloadOptions options;
  options.seed = seed;
  options.with_pool = device.reads_host_pool();
  try {
    return device.load(std::make_shared<Workload>(problem, options));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kDevice) throw;
    *outcome = {OutcomeKind::kOutOfMemory, error.what()};
    return nullptr;
  }
}

RoofRow measure_shape(Device& device,
                      RoofProbes& roofs,
                      const RoofShape& shape,
                      const RoofRates& rates,
                      const RoofOptions& options,
                      const std::atomic<bool>& stop) {
  RoofRow row;
  row.shape = shape;
  row.config = options.choose(shape.problem);
  row.floor = roof_floor(shape.problem, rates);
  const auto loaded = load_shape(device, shape.problem, options.seed, &row.outcome);
  if (loaded) row.outcome = check_once(*loaded, row.config.config, options.seed);
  if (!row.outcome.ok()) return row;
  row.copy_only_config = roofs.best_copy_only(*loaded, kCopyOnlyRounds).config;

  std::vector<double> times_us, copy_us, ratios;
  for (int round = 0; round < options.rounds && !stop; ++round) {
    if (!measure_round(*loaded, roofs, round, &row, &times_us, &copy_us)) break;
    ratios.push_back(times_us.back() / copy_us.back());
  }
  row.rounds = static_cast<int>(ratios.size());
  row.time_us = tuner::median(times_us);
  row.copy_only_us = tuner::median(copy_us);
  row.x_copy_only = tuner::quartiles(ratios);
  row.x_floor = row.time_us / row.floor.time_us;
  return row;
}

std::vector<std::string> row_cells(const RoofRow& row) {
  const std::string goal = fmt::format(
      "{:.2f} x {}", row.shape.goal, row.shape.base == RoofBase::kFloor ? "floor" : "copy-only");
  if (!row.outcome.ok()) {
    return {to_text(row.shape.problem),
            "-",
            "-",
            "-",
            "-",
            fmt::format("{:.1f}", row.floor.time_us),
            row.floor.bound,
            "-",
            goal,
            std::string(name(row.outcome.kind)),
            row.outcome.text};
  }
  return {to_text(row.shape.problem),
          fmt::format("{:.1f}", row.time_us),
          fmt::format("{:.1f}", row.copy_only_us),
          fmt::format("{:.3f}", row.x_copy_only.median),
          fmt::format("{:.3f}..{:.3f}", row.x_copy_only.low, row.x_copy_only.high),
          fmt::format("{:.1f}", row.floor.time_us),
          row.floor.bound,
          fmt::format("{:.3f}", row.x_floor),
          goal,
          row.met() ? "yes" : "no",
          fmt::format("{} ({})", to_text(row.config.config), row.config.origin)};
}

}  // namespace

RoofBench bench_roof(Device& device,
                     const std::vector<RoofShape>& shapes,
                     const RoofOptions& options,
                     const std::atomic<bool>& stop) {
  RoofProbes* roofs = device.roofs();
  if (roofs == nullptr) {
    throw Error(ErrorCode::kUsage,
                "--preset roof: '" + device.info().name + "' has no roof probes");
  }
  RoofBench bench;
  bench.device = device.info();
  bench.rates = roofs->rates();
  for (const RoofShape& shape : shapes) {
    if (stop) break;
    if (options.progress) options.progress(to_text(shape.problem));
    RoofRow row = measure_shape(device, *roofs, shape, bench.rates, options, stop);
    if (row.outcome.ok() && row.rounds < options.rounds) break;
    bench.rows.push_back(std::move(row));
  }
  raise_read_ceiling(&bench);
  return bench;
}

void raise_read_ceiling(RoofBench* bench) {
  double factor = 1;
  for (const RoofRow& row : bench->rows) {
    if (!row.outcome.ok() || row.floor.bound != "read") continue;
    factor = std::max(factor, row.floor.time_us / row.copy_only_us);
  }
  bench->rates.read_gb_s *= factor;
  for (RoofRow& row : bench->rows) {
    row.floor = roof_floor(row.shape.problem, bench->rates);
    if (row.outcome.ok()) row.x_floor = row.time_us / row.floor.time_us;
  }
}

std::string roof_text(const RoofBench& bench, const Terminal& terminal) {
  std::string text = fmt::format("{} ({})\n", bench.device.name, device_key(bench.device));
  text += fmt::format("read {:.0f} GB/s, L2 {:.0f} GB/s, empty graph {:.2f} us\n\n",
                      bench.rates.read_gb_s,
                      bench.rates.l2_read_gb_s,
                      bench.rates.empty_graph_us);
  Table table;
  table.column("shape");
  for (const char* title : {"time_us", "copy_us", "x copy", "quartiles", "floor_us"}) {
    table.column(title, Table::Align::kRight);
  }
  table.column("bound");
  table.column("x floor", Table::Align::kRight);
  table.column("goal");
  table.column("met");
  table.column("config");
  for (const RoofRow& row : bench.rows) {
    table.row(row_cells(row),
              !row.outcome.ok() ? Style::kBad
              : row.met()       ? Style::kGood
                                : Style::kWarn);
  }
  return text + table.text(terminal);
}

}  // namespace mla::tools

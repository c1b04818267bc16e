// SPDX-License-Identifier: MIT
// `mla-tune bench`: the operation against the machine's roofs, named configurations against each
// other, or the run-time lookup.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/error.h"
#include "kernels/text.h"
#include "policy/default_policy.h"
#include "tools/bench_lookup.h"
#include "tools/bench_op.h"
#include "tools/commands.h"
#include "tools/grid.h"
#include "tools/json.h"
#include "tools/paired_compare.h"
#include "tools/paths.h"
#include "tools/roof.h"
#include "tools/signals.h"
#include "tools/target.h"
#include "tools/tuned.h"
#include "tuner/sources.h"

namespace mla::tools {
namespace {

Grid bench_grid() {
  Grid grid;  // the two shapes that the project's speed goals are stated for
  grid.batch = {1, 8};
  grid.seq_len = {68000};
  return grid;
}

std::string host_bench_text(const HostBench& bench, const Terminal& terminal) {
  std::string text = fmt::format("{}, {} threads\n", bench.device.name, bench.device.compute_units);
  text += fmt::format("read {:.1f} GB/s, fp32 FMA {:.0f} GFLOP/s, bf16 dot ",
                      bench.rates.read_gb_s,
                      bench.rates.fp32_gflop_s);
  text += bench.rates.bf16_dot_gflop_s > 0
              ? fmt::format("{:.0f} GFLOP/s\n\n", bench.rates.bf16_dot_gflop_s)
              : "not on this CPU\n\n";
  Table table;
  table.column("kernel");
  table.column("shape");
  for (const char* title : {"time_us", "quartiles", "GFLOP/s", "GB/s", "floor_us", "share"}) {
    table.column(title, Table::Align::kRight);
  }
  table.column("bound");
  table.column("config");
  for (const BenchOpRow& row : bench.rows) {
    if (!row.outcome.ok()) {
      table.row({row.label,
                 to_text(row.problem),
                 "-",
                 "-",
                 "-",
                 "-",
                 "-",
                 "-",
                 std::string(name(row.outcome.kind)),
                 row.outcome.text},
                Style::kBad);
      continue;
    }
    table.row({row.label,
               to_text(row.problem),
               fmt::format("{:.0f}", row.time_us),
               fmt::format("{:.0f}..{:.0f}", row.time_low_us, row.time_high_us),
               fmt::format("{:.0f}", row.gflop_s),
               fmt::format("{:.1f}", row.gb_s),
               fmt::format("{:.0f}", row.floor_us),
               fmt::format("{:.0f}%", 100 * row.share),
               row.bound,
               to_text(row.config)});
  }
  return text + table.text(terminal);
}

std::string lookup_bench_text(const LookupBench& bench, const Terminal& terminal) {
  Table times;
  times.column("lookup");
  for (const char* title : {"table rows", "ns", "quartiles", "goal ns"}) {
    times.column(title, Table::Align::kRight);
  }
  for (const LookupTime& time : bench.times) {
    times.row({time.name,
               count_text(time.table_rows),
               fmt::format("{:.1f}", time.ns),
               fmt::format("{:.1f}..{:.1f}", time.ns_low, time.ns_high),
               fmt::format("{:.0f}", time.goal_ns)},
              time.ns <= time.goal_ns ? Style::kPlain : Style::kWarn);
  }
  Table openings;
  for (const char* title : {"rows", "open ms", "goal ms", "bytes/row", "goal bytes/row"}) {
    openings.column(title, Table::Align::kRight);
  }
  for (const LookupOpening& opening : bench.openings) {
    openings.row({count_text(opening.rows),
                  fmt::format("{:.0f}", opening.open_ms),
                  opening.goal_ms > 0 ? fmt::format("{:.0f}", opening.goal_ms) : "-",
                  fmt::format("{:.0f}", opening.bytes_per_row),
                  fmt::format("{:.0f}", opening.goal_bytes_per_row)});
  }
  Table concurrent;
  for (const char* title :
       {"reading threads", "reloads", "reload us", "median ns", "99.9 % ns", "goal ns"}) {
    concurrent.column(title, Table::Align::kRight);
  }
  for (const ConcurrentLookups& run : bench.concurrent) {
    concurrent.row({std::to_string(run.threads),
                    count_text(run.reloads),
                    fmt::format("{:.0f}", run.reload_us),
                    fmt::format("{:.0f}", run.median_ns),
                    fmt::format("{:.0f}", run.p999_ns),
                    fmt::format("{:.0f}", run.goal_ns)},
                   run.p999_ns <= run.goal_ns ? Style::kPlain : Style::kWarn);
  }
  return times.text(terminal) + "\n" + openings.text(terminal) + "\n" + concurrent.text(terminal);
}

// Its tables are generated, for a device of their own.
void refuse_shapes_and_device(const Options& options) {
  if (names_shapes(options) || !options.device.empty() || !options.configs.empty() ||
      !options.databases.empty() || options.rounds > 0) {
    throw Error(ErrorCode::kUsage, "lookup: takes no shape, --device, --db, --config or --rounds");
  }
}

int run_lookup_bench(const Options& options) {
  refuse_shapes_and_device(options);
  install_stop_signals();  // the generated databases are to be removed
  LookupBenchOptions bench_options;
  bench_options.seed = options.seed;
  if (options.threads > 0) bench_options.threads = options.threads;
  const LookupBench bench = bench_lookup(
      bench_options,
      [&](const std::string& what) {
        if (!options.quiet) say(stderr, "mla-tune bench: " + what + "\n");
      },
      stop_requested());
  fmt::print("{}",
             options.json ? lookup_bench_json(bench) + "\n"
                          : lookup_bench_text(bench, inspect(stdout, options.color)));
  return stop_signal() != 0 ? kSignalBase + stop_signal() : kDone;
}

// A list on the command line chooses among the shapes of the preset.
std::vector<RoofShape> chosen_roof_shapes(const Options& options) {
  if (!options.q_len.empty() || options.shared_prefix || options.imbalance ||
      !options.pool.empty()) {
    throw Error(ErrorCode::kUsage,
                "--preset roof: its shapes are chosen by --batch, --nhead, --seq-len, --page-size, "
                "--kv-dtype");
  }
  const auto chosen = [](const std::vector<int64_t>& list, int64_t value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  std::vector<RoofShape> shapes = roof_shapes();
  std::erase_if(shapes, [&](const RoofShape& shape) {
    const Problem& p = shape.problem;
    return !chosen(options.batch, p.batch) || !chosen(options.nhead, p.nhead) ||
           !chosen(options.seq_len, p.seq_len) || !chosen(options.page_size, p.page_size) ||
           p.kv_dtype != options.kv_dtype.value_or(p.kv_dtype);
  });
  if (shapes.empty()) throw Error(ErrorCode::kUsage, "--preset roof: holds no such shape");
  return shapes;
}

RoofConfig roof_config(const Options& options,
                       const Space& space,
                       const TunedConfigs& tuned,
                       const Problem& problem) {
  const KernelConfig otherwise = policy::DefaultPolicy(space)(problem);
  if (!options.configs.empty()) return {parse_config(options.configs.front(), otherwise), "given"};
  if (const auto winner = tuned.of(problem)) return {*winner, "database"};
  return {otherwise, "default"};
}

int run_roof_bench(const Options& options, const std::string& spec) {
  if (options.configs.size() > 1)
    throw Error(ErrorCode::kUsage, "--preset roof: takes one --config");
  const std::vector<RoofShape> shapes = chosen_roof_shapes(options);
  if (is_simulated(spec)) {
    throw Error(ErrorCode::kUsage, in_quotes(spec) + " has no machine to measure");
  }
  const std::unique_ptr<Device> device = open_device(spec);
  const TunedConfigs tuned(options.databases, device->info());
  RoofOptions roof;
  if (options.rounds > 0) roof.rounds = options.rounds;
  roof.seed = options.seed;
  roof.choose = [&](const Problem& problem) {
    return roof_config(options, device->space(), tuned, problem);
  };
  roof.progress = [&](const std::string& what) {
    if (!options.quiet) say(stderr, "mla-tune bench: " + what + "\n");
  };
  install_stop_signals();
  const RoofBench bench = bench_roof(*device, shapes, roof, stop_requested());
  fmt::print(
      "{}",
      options.json ? roof_json(bench) + "\n" : roof_text(bench, inspect(stdout, options.color)));
  if (stop_signal() != 0) return kSignalBase + stop_signal();
  const bool all_ok = std::all_of(
      bench.rows.begin(), bench.rows.end(), [](const RoofRow& row) { return row.outcome.ok(); });
  return all_ok ? kDone : kNegativeAnswer;
}

int run_op_bench(const Options& options, const std::string& spec) {
  if (is_simulated(spec)) {
    throw Error(ErrorCode::kUsage,
                in_quotes(spec) + " has no machine to measure; give --config to compare");
  }
  if (!spec.starts_with("cpu")) {
    throw Error(ErrorCode::kUsage,
                "--device: " + in_quotes(spec) +
                    " needs --config (configurations to compare) or --preset roof; alone, bench "
                    "measures a CPU");
  }
  BenchOpOptions bench_options;
  if (options.rounds > 0) bench_options.rounds = options.rounds;
  bench_options.seed = options.seed;
  const HostBench bench =
      bench_host(spec, problems_of(grid_of(options, bench_grid())), bench_options);
  fmt::print("{}",
             options.json ? host_bench_json(bench) + "\n"
                          : host_bench_text(bench, inspect(stdout, options.color)));
  const bool all_ok = std::all_of(
      bench.rows.begin(), bench.rows.end(), [](const BenchOpRow& row) { return row.outcome.ok(); });
  return all_ok ? kDone : kNegativeAnswer;
}

// One --config is compared with the default, several with the first of them.
std::vector<KernelConfig> compared_configs(const Options& options, const KernelConfig& base) {
  std::vector<KernelConfig> configs;
  if (options.configs.size() == 1) configs.push_back(base);
  for (const std::string& text : options.configs) configs.push_back(parse_config(text, base));
  return configs;
}

int run_comparison(const Options& options, const std::string& spec) {
  const auto source = tuner::open_source(spec, self_executable());
  const policy::DefaultPolicy default_policy(source->space());
  CompareOptions compare_options;
  if (options.rounds > 0) compare_options.max_rounds = options.rounds;
  compare_options.seed = options.seed;
  install_stop_signals();
  std::vector<Comparison> comparisons;
  for (const Problem& problem : problems_of(grid_of(options, bench_grid()))) {
    if (stop_requested()) break;
    comparisons.push_back(compare(*source,
                                  problem,
                                  compared_configs(options, default_policy(problem)),
                                  compare_options,
                                  stop_requested()));
    if (!options.json)
      fmt::print("{}\n", comparison_text(comparisons.back(), inspect(stdout, options.color)));
  }
  if (options.json) fmt::print("{}\n", comparison_json(comparisons));
  if (stop_signal() != 0) return kSignalBase + stop_signal();
  for (const Comparison& comparison : comparisons) {
    for (const CompareLeg& leg : comparison.legs) {
      if (!leg.outcome.ok()) return kNegativeAnswer;
    }
  }
  return kDone;
}

}  // namespace

int cmd_bench(const Options& options) {
  if (options.action == "lookup") return run_lookup_bench(options);
  if (options.threads > 0) throw Error(ErrorCode::kUsage, "--threads: only for lookup");
  const std::string spec = device_spec(options.device);
  if (options.preset == kRoofPreset) return run_roof_bench(options, spec);
  if (!options.databases.empty()) {
    throw Error(ErrorCode::kUsage, "--db: only --preset roof times what a database holds");
  }
  return options.configs.empty() ? run_op_bench(options, spec) : run_comparison(options, spec);
}

}  // namespace mla::tools

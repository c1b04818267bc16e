// SPDX-License-Identifier: MIT
// `mla-tune run`: shapes in, winners in the database, a table on standard output.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tools/commands.h"
#include "tools/grid.h"
#include "tools/json.h"
#include "tools/lengths.h"
#include "tools/loop_budget.h"
#include "tools/paths.h"
#include "tools/progress.h"
#include "tools/run_info.h"
#include "tools/run_plan.h"
#include "tools/run_result.h"
#include "tools/shard.h"
#include "tools/signals.h"
#include "tools/target.h"
#include "tuner/device_sessions.h"
#include "tuner/grid_points.h"
#include "tuner/robust.h"
#include "tuner/sources.h"

namespace mla::tools {
namespace {

// --config texts fill their gaps from the default of every shape. One list serves all shapes, so a
// shape also meets the configurations that another one's default filled. A text that is legal for
// none of the shapes is a mistake.
std::vector<KernelConfig> only_configs(const Options& options,
                                       const Space& space,
                                       const std::vector<Problem>& problems) {
  std::vector<KernelConfig> configs;
  if (problems.empty()) return configs;  // a shard without work
  const policy::DefaultPolicy default_policy(space);
  for (const std::string& text : options.configs) {
    std::optional<std::string> violation = "";
    for (const Problem& problem : problems) {
      const KernelConfig config = parse_config(text, default_policy(problem));
      if (violation) violation = space.violation(problem, config);
      if (std::find(configs.begin(), configs.end(), config) == configs.end()) {
        configs.push_back(config);
      }
    }
    if (violation) {
      throw Error(ErrorCode::kUsage, fmt::format("--config: '{}': {}", text, *violation));
    }
  }
  return configs;
}

tuner::SessionOptions session_options(const Options& options,
                                      const Space& space,
                                      std::vector<KernelConfig> only,
                                      std::vector<tuner::LengthShare> lengths) {
  tuner::SessionOptions session;
  session.seed = options.seed;
  session.budget_s = options.budget_s;
  if (options.rounds > 0) session.final_rounds = options.rounds;
  session.max_configs = options.max_configs;
  session.baseline = options.baseline;
  session.retune = options.retune;
  session.only = std::move(only);
  if (!is_simulated(options.device) && has_loop_budget(space.device())) {
    session.estimate_us = [&space](const Problem& problem, const KernelConfig& config) {
      return estimated_time_us(space, problem, config);
    };
  }
  session.lengths = std::move(lengths);
  session.small_search = options.search == "small";
  session.refine = options.refine;
  return session;
}

// What the preset of a shipped database implies beside its shapes.
void apply_preset(Options* options) {
  if (options->preset != kShippedPreset) return;
  options->refine = true;
  if (options->search.empty()) options->search = "small";
}

std::vector<tuner::LengthShare> lengths_of_run(Options* options) {
  if (options->preset == kShippedPreset && options->seq_len.empty() && options->lengths.empty()) {
    return tuner::default_lengths();
  }
  std::vector<tuner::LengthShare> lengths = chosen_lengths(*options);
  if (!lengths.empty()) {
    options->seq_len.clear();
    for (const tuner::LengthShare& length : lengths) options->seq_len.push_back(length.seq_len);
  }
  return lengths;
}

std::vector<Problem> problems_of_run(const Options& options, const tuner::CandidateSource& source) {
  std::vector<Problem> problems = chosen_problems(options, source);
  if (!options.refine) return problems;
  const std::vector<Problem> edges = tuner::wave_edge_points(source.space(), problems);
  problems.insert(problems.end(), edges.begin(), edges.end());
  return tuner::riskiest_first(source.space(), std::move(problems));
}

int print_plan(const Options& options, RunPlan plan, const std::string& spec) {
  plan.device_spec = spec;
  plan.budget_s = options.budget_s;
  fmt::print(
      "{}",
      options.json ? plan_json(plan) + "\n" : plan_text(plan, inspect(stdout, options.color)));
  return kDone;
}

using Sources = std::vector<std::unique_ptr<tuner::CandidateSource>>;

Sources open_sources(const std::vector<std::string>& specs) {
  Sources sources;
  for (const std::string& spec : specs) {
    sources.push_back(tuner::open_source(spec, self_executable()));
  }
  return sources;
}

tuner::SessionResult measure(const Options& options,
                             const Sources& sources,
                             const std::string& database,
                             const std::vector<Problem>& problems,
                             std::vector<KernelConfig> only,
                             std::vector<tuner::LengthShare> lengths) {
  install_stop_signals();
  ProgressOptions shown;
  shown.lines = options.progress && !options.quiet;
  shown.permanent = !options.quiet;
  shown.every_failure = options.verbose;
  shown.relative_times = sources.front()->info().relative_times;
  RunProgress progress(stderr, inspect(stderr, options.color), shown);
  tuner::SessionResult result = tuner::run_device_sessions(
      sources,
      database,
      run_info(options),
      problems,
      session_options(options, sources.front()->space(), std::move(only), std::move(lengths)),
      [&](const tuner::ProgressEvent& event) { progress.on_event(event); },
      stop_requested());
  progress.clear();
  if (!options.quiet)
    say(stderr, failure_text(progress.failures(), options.device, inspect(stderr, options.color)));
  return result;
}

// Shapes and database of this process, which may be one of several.
struct Assignment {
  std::vector<Problem> problems;
  std::string database;
};

Assignment assignment(const Options& options, const tuner::CandidateSource& source) {
  const ChosenShard chosen = chosen_shard(options);
  const std::vector<Problem> all = problems_of_run(options, source);
  const Assignment own = {part_of(all, chosen.shard),
                          shard_database(own_database(options.databases), chosen.shard)};
  if (chosen.shard.count > 1 && !options.quiet) {
    say(stderr,
        fmt::format("mla-tune run: {}\n",
                    shard_text(chosen, own.problems.size(), all.size(), own.database)));
  }
  return own;
}

}  // namespace

int cmd_run(const Options& given) {
  Options options = given;
  apply_preset(&options);
  const std::vector<std::string> specs = device_specs(given.devices);
  options.device = specs.front();
  static_cast<void>(own_database(options.databases));  // a usage error before a device is opened
  const Sources sources = open_sources(specs);
  const tuner::CandidateSource& first = *sources.front();
  const std::vector<tuner::LengthShare> lengths = lengths_of_run(&options);
  const auto [problems, database] = assignment(options, first);
  const std::vector<KernelConfig> only = only_configs(options, first.space(), problems);
  if (options.dry_run) {
    return print_plan(
        options,
        make_plan(first, problems, only, options.search == "small" && only.empty(), database),
        fmt::format("{}", fmt::join(specs, " ")));
  }
  RunDocument run;
  run.command_line = options.command_line;
  run.device_specs = specs;
  run.device = first.info();
  run.database = database;
  const tuner::SessionResult result = measure(options, sources, database, problems, only, lengths);
  run.result = &result;
  const int status = run_status(result, stop_signal());
  run.status = run_status_text(status);
  if (options.json) {
    fmt::print("{}\n", run_json(run));
  } else {
    fmt::print("{}", run_text(run, inspect(stdout, options.color)));
    if (!options.quiet) fmt::print("{}", next_steps(run, status, inspect(stdout, options.color)));
  }
  if (!options.quiet)
    say(stderr, run_notes(run, status, options.verbose, inspect(stderr, options.color)));
  return status;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// `mla-tune run`: shapes in, winners in the database, a table on standard output.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "db/store.h"
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
#include "tools/signals.h"
#include "tools/target.h"
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
  const policy::DefaultPolicy default_policy(space);
  for (const std::string& text : options.configs) {
    std::optional<std::string> violation = "no shape to run it for";
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
  fmt::print("{}", options.json ? plan_json(plan) + "\n" : plan_text(plan));
  return kDone;
}

tuner::SessionResult measure(const Options& options,
                             tuner::CandidateSource& source,
                             const std::string& database,
                             const std::vector<Problem>& problems,
                             std::vector<KernelConfig> only,
                             std::vector<tuner::LengthShare> lengths) {
  db::Store store = db::Store::open(database, db::OpenMode::kReadWrite);
  install_stop_signals();
  ProgressOptions shown;
  shown.lines = options.progress && !options.quiet;
  shown.permanent = !options.quiet;
  shown.every_failure = options.verbose;
  shown.relative_times = source.info().relative_times;
  RunProgress progress(stderr, inspect(stderr, options.color), shown);
  tuner::SessionResult result = tuner::run_session(
      source,
      &store,
      run_info(options),
      problems,
      session_options(options, source.space(), std::move(only), std::move(lengths)),
      [&](const tuner::ProgressEvent& event) { progress.on_event(event); },
      stop_requested());
  progress.clear();
  if (!options.quiet) say(stderr, failure_text(progress.failures(), options.device));
  return result;
}

}  // namespace

int cmd_run(const Options& given) {
  Options options = given;
  options.device = device_spec(given.device);
  const std::string database = own_database(options.databases);
  const auto source = tuner::open_source(options.device, self_executable());
  apply_preset(&options);
  const std::vector<tuner::LengthShare> lengths = lengths_of_run(&options);
  const std::vector<Problem> problems = problems_of_run(options, *source);
  const std::vector<KernelConfig> only = only_configs(options, source->space(), problems);
  if (options.dry_run) {
    return print_plan(options, make_plan(*source, problems, only, database), options.device);
  }
  RunDocument run;
  run.command_line = options.command_line;
  run.device_spec = options.device;
  run.device = source->info();
  run.database = database;
  const tuner::SessionResult result = measure(options, *source, database, problems, only, lengths);
  run.result = &result;
  const int status = run_status(result, stop_signal());
  run.status = run_status_text(status);
  if (options.json) {
    fmt::print("{}\n", run_json(run));
  } else {
    fmt::print("{}", run_text(run, inspect(stdout, options.color)));
    if (!options.quiet) fmt::print("{}", next_steps(run, status));
  }
  if (!options.quiet) say(stderr, run_notes(run, status, options.verbose));
  return status;
}

}  // namespace mla::tools

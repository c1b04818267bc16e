// SPDX-License-Identifier: MIT
// `mla-tune sweep`: levers per shape and the dose-response of one of them.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/paths.h"
#include "tools/progress.h"
#include "tools/run_plan.h"
#include "tools/run_result.h"
#include "tools/signals.h"
#include "tools/sweep.h"
#include "tools/target.h"
#include "tools/tuned.h"
#include "tuner/sources.h"

namespace mla::tools {
namespace {

// The split counts of the published dose-response, and 1.
const std::vector<int64_t> kDoseSplits = {1, 2, 4, 8, 16, 32, 64, 128, 256};

void check_options(const Options& options, const DeviceInfo& device) {
  const bool of_dose = !options.lever.empty() || !options.splits.empty();
  if (options.action == "levers" && of_dose) {
    throw Error(ErrorCode::kUsage, "levers: takes no --lever or --splits; dose does");
  }
  if (!options.record.empty() && device.relative_times) {
    throw Error(ErrorCode::kUsage, "--record: '" + device.name + "' holds ratios and no times");
  }
}

std::vector<SweepGroup> lever_groups(const Options& options,
                                     const Space& space,
                                     const std::vector<Problem>& problems) {
  if (options.action == "dose") return {};
  const TunedConfigs tuned(options.databases, space.device());
  std::vector<SweepGroup> groups;
  for (const Problem& problem : problems) {
    groups.push_back(lever_group(space, problem, tuned.of(problem)));
  }
  return groups;
}

std::vector<SweepGroup> dose_groups(const Options& options,
                                    const Space& space,
                                    const std::vector<Problem>& problems,
                                    Lever lever) {
  if (options.action == "levers") return {};
  std::vector<SweepGroup> groups;
  for (const Problem& problem : problems) {
    for (const int64_t splits : options.splits.empty() ? kDoseSplits : options.splits) {
      groups.push_back(dose_group(space, problem, lever, static_cast<int32_t>(splits)));
    }
  }
  return groups;
}

void measure(const Options& options,
             tuner::CandidateSource& source,
             const std::vector<SweepGroup>& groups,
             std::vector<SweptGroup>* swept) {
  SweepOptions sweep;
  if (options.rounds > 0) sweep.rounds = options.rounds;
  sweep.seed = options.seed;
  sweep.budget_s = options.budget_s;
  ProgressOptions shown;
  shown.lines = options.progress && !options.quiet;
  shown.permanent = !options.quiet;
  shown.every_failure = options.verbose;
  RunProgress progress(stderr, inspect(stderr, options.color), shown);
  install_stop_signals();
  measure_groups(
      source,
      groups,
      sweep,
      [&](const tuner::ProgressEvent& event) { progress.on_event(event); },
      stop_requested(),
      swept);
  progress.clear();
}

// A baseline that a recording lacks is no failure of the device.
bool baseline_failed(const SweptGroup& group) {
  const Outcome& outcome = group.legs.front().result.outcome;
  return !outcome.ok() && outcome.kind != OutcomeKind::kNotRecorded;
}

bool measured_anything(const std::vector<SweptGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const SweptGroup& group) {
    return group.legs.front().result.time_us > 0;
  });
}

int status_of(const std::vector<SweptGroup>& swept, size_t planned) {
  if (stop_signal() != 0) return kSignalBase + stop_signal();
  const bool complete =
      swept.size() == planned &&
      std::all_of(swept.begin(), swept.end(), [](const auto& group) { return group.complete; });
  if (!complete) return kStoppedEarly;
  const bool failed = std::any_of(swept.begin(), swept.end(), baseline_failed);
  return failed || !measured_anything(swept) ? kNegativeAnswer : kDone;
}

void write_result(const Options& options, const Sweep& sweep) {
  if (!options.csv.empty()) write_file(options.csv, sweep_csv(sweep));
  if (!options.record.empty()) write_file(options.record, sweep_recording(sweep));
  fmt::print("{}", options.json ? sweep_json(sweep) + "\n" : sweep_markdown(sweep));
}

}  // namespace

int cmd_sweep(const Options& options) {
  Sweep sweep;
  sweep.command_line = options.command_line;
  sweep.device_spec = device_spec(options.device);
  const auto source = tuner::open_source(sweep.device_spec, self_executable());
  sweep.device = source->info();
  sweep.environment = source->environment();
  check_options(options, sweep.device);
  if (!options.lever.empty()) sweep.lever = parse_lever(options.lever);

  const std::vector<Problem> problems = chosen_problems(options, *source);
  std::vector<SweepGroup> groups = lever_groups(options, source->space(), problems);
  const size_t lever_count = groups.size();
  for (SweepGroup& group : dose_groups(options, source->space(), problems, sweep.lever)) {
    groups.push_back(std::move(group));
  }
  std::vector<SweptGroup> swept;
  std::exception_ptr lost;
  try {
    measure(options, *source, groups, &swept);
  } catch (const Error&) {
    lost = std::current_exception();
  }
  const int status = status_of(swept, groups.size());
  sweep.status = lost ? "device_lost" : run_status_text(status);
  for (size_t i = 0; i < swept.size(); ++i) {
    (i < lever_count ? sweep.levers : sweep.dose).push_back(std::move(swept[i]));
  }
  write_result(options, sweep);
  if (lost) std::rethrow_exception(lost);
  if (status != kDone && !options.quiet) {
    say(stderr,
        fmt::format("mla-tune sweep: {}: {} of {} groups were begun\n",
                    sweep.status,
                    swept.size(),
                    groups.size()));
  }
  return status;
}

}  // namespace mla::tools

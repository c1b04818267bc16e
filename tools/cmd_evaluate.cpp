// SPDX-License-Identifier: MIT
// `mla-tune evaluate`: the policy's answers at shapes that were not tuned.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/evaluate.h"
#include "tools/misses.h"
#include "tools/paths.h"
#include "tools/signals.h"
#include "tools/target.h"
#include "tuner/search.h"
#include "tuner/sources.h"

namespace mla::tools {
namespace {

// Paired rounds are not those of a tuning or of verify.
constexpr int32_t kFreshRung = 2;
// A sign test at 0.01 / 200 shapes needs 14 rounds at the least; so many decide a small loss.
constexpr int kRounds = 30;
constexpr int64_t kHeldOut = 50;

// Of a recording those of its shapes that were not tuned.
std::vector<Problem> held_out(const Options& options,
                              const std::vector<std::string>& databases,
                              const tuner::CandidateSource& source) {
  if (!options.from.empty()) return read_shapes(options.from);
  const std::vector<Problem> tuned = tuned_problems(databases, source.info());
  const auto count = static_cast<size_t>(options.shapes > 0 ? options.shapes : kHeldOut);
  std::vector<Problem> recorded = source.recorded_problems();
  if (recorded.empty()) return draw_held_out(tuned, count, options.seed);
  const std::unordered_set<Problem> known(tuned.begin(), tuned.end());
  std::erase_if(recorded, [&](const Problem& problem) { return known.count(problem) != 0; });
  if (recorded.size() > count) recorded.resize(count);
  return recorded;
}

}  // namespace

int cmd_evaluate(const Options& options) {
  const std::vector<std::string> databases = database_paths(options.databases);
  const auto source = tuner::open_source(device_spec(options.device), self_executable());
  const policy::LookupTable table(databases, source->space());
  for (const std::string& warning : table.warnings()) {
    if (!options.quiet) say_wrapped(stderr, "mla-tune evaluate: warning: " + warning + "\n");
  }
  const std::vector<Problem> problems = held_out(options, databases, *source);
  if (problems.empty()) {
    throw Error(ErrorCode::kUsage,
                "no shape to evaluate: nothing was tuned for this device; mla-tune run tunes");
  }
  CompareOptions compare;
  compare.seed = options.seed;
  compare.rung = kFreshRung;
  compare.max_rounds = options.rounds > 0 ? options.rounds : kRounds;
  if (options.budget_s > 0) {
    compare.deadline = tuner::Clock::now() + tuner::to_duration(options.budget_s);
  }
  install_stop_signals();
  std::vector<EvaluatedShape> shapes;
  for (const Problem& problem : problems) {
    if (stop_requested() || tuner::Clock::now() >= compare.deadline) break;
    shapes.push_back(evaluate_shape(*source, table, problem, compare, stop_requested()));
    if (options.progress && !options.quiet) {
      say_wrapped(stderr,
                  fmt::format("mla-tune evaluate: {}/{}  {}  regret {:.2f}%\n",
                              shapes.size(),
                              problems.size(),
                              to_text(problem),
                              100 * shapes.back().regret));
    }
  }
  if (options.json) {
    fmt::print("{}\n", evaluation_json(shapes, source->info()));
  } else {
    fmt::print(
        "{}",
        evaluation_text(shapes, source->info().relative_times, inspect(stdout, options.color)));
  }
  if (stop_signal() != 0) return kSignalBase + stop_signal();
  if (shapes.size() < problems.size()) return kStoppedEarly;
  return summarize(shapes).slower > 0 ? kNegativeAnswer : kDone;
}

}  // namespace mla::tools

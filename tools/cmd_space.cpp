// SPDX-License-Identifier: MIT
// `mla-tune space`: what a device can be asked to run for a shape, and why the rest is left out.
#include <fmt/format.h>

#include <numeric>

#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tools/commands.h"
#include "tools/grid.h"
#include "tools/json.h"
#include "tools/loop_budget_view.h"
#include "tools/run_plan.h"
#include "tools/target.h"

namespace mla::tools {
namespace {

// "1..1024" for an unbroken run of four or more, else the values.
std::string values_text(Knob knob, const std::vector<int32_t>& values) {
  const bool run = values.size() >= 4 &&
                   values.back() - values.front() == static_cast<int32_t>(values.size()) - 1;
  if (run) return fmt::format("{}..{}", values.front(), values.back());
  std::vector<std::string> texts;
  for (const int32_t value : values) texts.push_back(value_text(knob, value));
  return fmt::format("{}", fmt::join(texts, ","));
}

Table knob_table(const Space& space) {
  Table table;
  for (const char* title : {"knob", "legal", "searched", "neutral", "note"}) table.column(title);
  for (const KnobRange& range : space.ranges()) {
    if (range.legal == std::vector<int32_t>{0}) {
      table.row({std::string(name(range.knob)), "-", "-", "-", range.note}, Style::kDim);
      continue;
    }
    const bool all = range.search == range.legal;
    table.row({std::string(name(range.knob)),
               values_text(range.knob, range.legal),
               all ? "all" : values_text(range.knob, range.search),
               value_text(range.knob, range.neutral),
               range.note});
  }
  return table;
}

constexpr size_t kValueIndent = 12;  // of the values behind their titles

void print_space(const Space& space,
                 const Problem& problem,
                 const Space::Listing& listing,
                 const Terminal& terminal) {
  fmt::print("{} ({})\n\n{}\n",
             space.device().name,
             device_key(space.device()),
             knob_table(space).text(terminal));
  for (const Constraint& constraint : space.constraints()) {
    const std::string line =
        fmt::format("constraint  {}: {}\n", constraint.name, constraint.reason);
    fmt::print("{}", wrapped(terminal, line, kValueIndent));
  }
  const policy::DefaultPolicy default_policy(space);
  const KernelConfig config = default_policy(problem);
  const ResourceUse use = space.use(problem, config);
  const int64_t pruned = std::accumulate(
      listing.pruned.begin(), listing.pruned.end(), int64_t{0}, [](int64_t sum, const auto& entry) {
        return sum + entry.second;
      });
  std::string text = fmt::format("\n{}\nsearch      {} configurations\npruned      {}: {}\n",
                                 to_text(problem),
                                 count_text(static_cast<int64_t>(listing.configs.size())),
                                 count_text(pruned),
                                 pruned_text(listing.pruned));
  text += fmt::format(
      "default     {}\n            {} stage-1 workgroups in {} waves of {} trips, workspace {}\n",
      to_text(config),
      use.stage1_workgroups,
      use.waves,
      use.trips,
      bytes_text(static_cast<double>(use.workspace_bytes)));
  fmt::print("{}", wrapped(terminal, text, kValueIndent));
}

}  // namespace

int cmd_space(const Options& options) {
  const std::vector<Problem> problems = problems_of(grid_of(options, {}));
  if (problems.size() != 1) {
    throw Error(ErrorCode::kUsage, fmt::format("one shape at a time, not {}", problems.size()));
  }
  const Space space = space_of(device_spec(options.device));
  const Problem& problem = problems.front();
  const Space::Listing listing = space.list(problem);
  std::vector<LoopBudget> budgets;
  if (options.loop_budget) budgets = loop_budgets(space, problem);
  const Terminal terminal = inspect(stdout, options.color);
  if (options.json) {
    fmt::print("{}\n",
               space_json(space, problem, listing, options.loop_budget ? &budgets : nullptr));
  } else {
    print_space(space, problem, listing, terminal);
    if (options.loop_budget) fmt::print("\n{}", budget_text(space.device(), budgets, terminal));
  }
  return kDone;
}

}  // namespace mla::tools

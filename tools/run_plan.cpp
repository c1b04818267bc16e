// SPDX-License-Identifier: MIT
#include "tools/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "db/store.h"
#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tools/grid.h"
#include "tools/misses.h"
#include "tools/term.h"
#include "tuner/seeds.h"

namespace mla::tools {
namespace {

void mark_tuned(const std::string& database, RunPlan* plan) {
  if (!std::filesystem::exists(database)) return;
  const db::Store store = db::Store::open(database, db::OpenMode::kReadOnly);
  for (const db::TuningSummary& summary : store.summaries()) {
    if (device_key(summary.device) != device_key(plan->device)) continue;
    for (PlannedShape& shape : plan->shapes) {
      if (shape.problem == summary.winner.problem) shape.tuned_before = true;
    }
  }
}

}  // namespace

std::vector<Problem> chosen_problems(const Options& options, const tuner::CandidateSource& source) {
  if (!options.from.empty()) {
    if (names_shapes(options)) {
      throw Error(ErrorCode::kUsage, "--from: not together with other shape options");
    }
    return read_shapes(options.from);
  }
  if (names_shapes(options)) return problems_of(grid_of(options, {}));
  std::vector<Problem> recorded = source.recorded_problems();
  return recorded.empty() ? problems_of(preset("quick")) : recorded;
}

RunPlan make_plan(const tuner::CandidateSource& source,
                  const std::vector<Problem>& problems,
                  const std::vector<KernelConfig>& only,
                  bool small_search,
                  const std::string& database) {
  RunPlan plan;
  plan.device = source.info();
  plan.database = database;
  const policy::DefaultPolicy default_policy(source.space());
  for (const Problem& problem : problems) {
    PlannedShape shape;
    shape.problem = problem;
    shape.default_config = default_policy(problem);
    if (small_search) {
      shape.configs = tuner::kSmallSeeds + tuner::kSmallSteps;
    } else {
      const Space::Listing listing = source.list(problem);
      shape.configs = static_cast<int64_t>(only.empty() ? listing.configs.size() : only.size());
      shape.pruned = listing.pruned;
    }
    plan.shapes.push_back(std::move(shape));
  }
  mark_tuned(database, &plan);
  return plan;
}

std::string pruned_text(const std::map<std::string, int64_t>& pruned) {
  std::string text;
  for (const auto& [constraint, count] : pruned) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", constraint, count_text(count));
  }
  return text.empty() ? "none" : text;
}

std::string plan_text(const RunPlan& plan, const Terminal& terminal) {
  std::string text = fmt::format(
      "device    {}  {} ({})\n", plan.device_spec, plan.device.name, device_key(plan.device));
  text += fmt::format("database  {}\n", plan.database);
  text += fmt::format("budget    {}\n\n",
                      plan.budget_s > 0 ? duration_text(plan.budget_s) : "no limit");
  Table table;
  table.column("shape");
  table.column("configs", Table::Align::kRight);
  table.column("stored");
  table.column("pruned");
  for (const PlannedShape& shape : plan.shapes) {
    table.row({to_text(shape.problem),
               count_text(shape.configs),
               shape.tuned_before ? "yes" : "no",
               pruned_text(shape.pruned)});
  }
  const int64_t configs =
      std::accumulate(plan.shapes.begin(),
                      plan.shapes.end(),
                      int64_t{0},
                      [](int64_t sum, const PlannedShape& shape) { return sum + shape.configs; });
  text = wrapped(terminal, text, 10) + table.text(terminal);
  return text + fmt::format("\n{} shapes, {} configurations; nothing was measured\n",
                            plan.shapes.size(),
                            count_text(configs));
}

}  // namespace mla::tools

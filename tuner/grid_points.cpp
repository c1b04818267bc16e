// SPDX-License-Identifier: MIT
#include "tuner/grid_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "policy/default_policy.h"
#include "policy/shape_grid.h"

namespace mla::tuner {
namespace {

// A step from one batch to the next that a growing batch does not explain.
constexpr double kStepFactor = 1.25;

// Rows of the longest workgroup, wave after wave: what the default's time follows.
double default_load(const Space& space,
                    const policy::DefaultPolicy& default_policy,
                    const Problem& problem) {
  const KernelConfig config = default_policy(problem);
  const ResourceUse use = space.use(problem, config);
  return static_cast<double>(use.waves) * static_cast<double>(use.trips * config.tile_n);
}

// All problems that differ in the batch alone.
using Line = std::set<int32_t>;

// Whether the winner of one point was measured at another and holds there in none of its forms.
bool loses(const CrossPoint& from,
           const CrossPoint& at,
           const std::vector<db::LossRecord>& losses_there) {
  if (!from.wins) return false;
  bool measured = false;
  for (const KernelConfig& config : carried_to(at, from)) {
    if (config == at.default_config || (at.wins && config == at.config)) return false;
    for (const db::LossRecord& loss : losses_there) {
      if (loss.config != config) continue;
      measured = true;
      if (holds(loss)) return false;
    }
  }
  return measured;
}

int64_t middle(int64_t low, int64_t high) {
  return std::llround(std::sqrt(static_cast<double>(low) * static_cast<double>(high)));
}

}  // namespace

double wave_risk(const Space& space, const Problem& problem) {
  const ResourceUse use = space.use(problem, policy::DefaultPolicy(space)(problem));
  const double slots = static_cast<double>(use.waves) * std::max(1, space.device().compute_units);
  return 1 - static_cast<double>(use.stage1_workgroups) / slots;
}

std::vector<Problem> riskiest_first(const Space& space, std::vector<Problem> problems) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < problems.size(); ++i) order.push_back({-wave_risk(space, problems[i]), i});
  std::sort(order.begin(), order.end());
  std::vector<Problem> sorted;
  for (const auto& [risk, index] : order) sorted.push_back(problems[index]);
  return sorted;
}

std::vector<Problem> wave_edge_points(const Space& space, const std::vector<Problem>& problems) {
  const policy::DefaultPolicy default_policy(space);
  std::map<std::string, Line> lines;  // by the problem with a batch of 1
  const auto line_of = [](Problem problem) {
    problem.batch = 1;
    return to_text(problem);
  };
  for (const Problem& problem : problems) lines[line_of(problem)].insert(problem.batch);
  std::vector<Problem> added;
  std::unordered_set<Problem> known(problems.begin(), problems.end());
  for (const Problem& problem : problems) {
    const Line& line = lines.at(line_of(problem));
    const auto next = line.upper_bound(problem.batch);
    if (next == line.end()) continue;
    for (Problem low = problem; low.batch < *next; ++low.batch) {
      Problem high = low;
      ++high.batch;
      const double step = default_load(space, default_policy, high) * low.batch /
                          (default_load(space, default_policy, low) * high.batch);
      if (step < kStepFactor) continue;
      for (const Problem& point : {low, high})
        if (known.insert(point).second) added.push_back(point);
    }
  }
  return added;
}

std::vector<Problem> disagreement_points(
    const Space& space,
    const std::vector<CrossPoint>& points,
    const std::function<const std::vector<db::LossRecord>&(size_t point)>& losses) {
  std::vector<policy::GridPoint> grid;
  std::unordered_set<Problem> known;
  for (const CrossPoint& point : points) {
    grid.push_back(policy::grid_point(point.problem));
    known.insert(point.problem);
  }
  std::vector<Problem> wanted;
  policy::for_each_cell(grid, [&](const policy::GridCell& cell) {
    for (size_t i = 0; i < cell.corners.size(); ++i) {
      for (size_t k = i + 1; k < cell.corners.size(); ++k) {
        const size_t a = cell.corners[i], b = cell.corners[k];
        const Problem &p = points[a].problem, &q = points[b].problem;
        const bool neighbours = (p.batch == q.batch) != (p.seq_len == q.seq_len);
        if (!neighbours || (!points[a].here && !points[b].here)) continue;
        if (!loses(points[a], points[b], losses(b)) || !loses(points[b], points[a], losses(a))) {
          continue;
        }
        Problem between = p;
        between.batch = static_cast<int32_t>(middle(p.batch, q.batch));
        between.seq_len = middle(p.seq_len, q.seq_len);
        if (known.insert(between).second) wanted.push_back(between);
      }
    }
  });
  return riskiest_first(space, std::move(wanted));
}

}  // namespace mla::tuner

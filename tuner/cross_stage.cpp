// SPDX-License-Identifier: MIT
#include "tuner/cross_stage.h"

#include <algorithm>
#include <unordered_set>

#include "tuner/grid_points.h"

namespace mla::tuner {

CrossStage::CrossStage(SourceMeter& meter, db::Store* store, const SessionOptions& options)
    : meter_(meter), store_(store), options_(options) {}

void CrossStage::add(const db::WinnerRecord& winner, int64_t tuning_id) {
  points_.push_back(cross_point(winner, tuning_id, true));
}

void CrossStage::add_stored() {
  if (store_ == nullptr || points_.empty()) return;
  const std::string device = device_key(meter_.source.info());
  const db::Environment environment = meter_.source.environment();
  std::unordered_set<Problem> seen;
  for (const CrossPoint& point : points_) seen.insert(point.problem);
  for (const db::TuningSummary& stored : store_->summaries())
    if (device_key(stored.device) == device && stored.environment == environment &&
        stored.winner.problem.seq_len > 0 && seen.insert(stored.winner.problem).second)
      points_.push_back(cross_point(stored.winner, stored.tuning_id, false));
}

std::vector<db::LossRecord>& CrossStage::losses_at(size_t point) {
  const auto [found, absent] = losses_.try_emplace(point);
  if (absent && store_ != nullptr) found->second = store_->load_losses(points_[point].tuning_id);
  return found->second;
}

void CrossStage::measure(Clock::time_point deadline,
                         const OnRound& on_round,
                         const std::atomic<bool>& stop) {
  groups_ = length_groups(points_, options_.lengths);
  const auto known = [this](size_t point, const KernelConfig& config) {
    const std::vector<db::LossRecord>& losses = losses_at(point);
    return std::any_of(losses.begin(), losses.end(), [&](const db::LossRecord& loss) {
      return loss.config == config;
    });
  };
  const std::vector<CrossTask> tasks =
      plan_crossing(points_, groups_, meter_.source.space(), known);
  // What an earlier pass had no time for is planned again.
  counts_.planned = counts_.held + counts_.lost;
  for (const CrossTask& task : tasks) counts_.planned += static_cast<int64_t>(task.configs.size());
  if (!tasks.empty()) on_round(points_[tasks[0].point].problem, counts_, true);
  for (const CrossTask& task : tasks) {
    const Problem problem = points_[task.point].problem;
    for (const db::LossRecord& loss : measure_crossing(
             meter_,
             store_,
             points_[task.point],
             task,
             options_.seed,
             deadline,
             [&](int) { on_round(problem, counts_, false); },
             stop)) {
      ++(holds(loss) ? counts_.held : counts_.lost);
      losses_at(task.point).push_back(loss);
    }
  }
}

std::vector<Problem> CrossStage::disagreements() {
  return disagreement_points(
      meter_.source.space(), points_, [this](size_t point) -> const std::vector<db::LossRecord>& {
        return losses_at(point);
      });
}

std::vector<RobustPlan> CrossStage::choose_plans() {
  std::vector<RobustPlan> plans;
  for (const LengthGroup& group : groups_) {
    std::vector<RobustPoint> points;
    for (const size_t point : group) points.push_back({points_[point], losses_at(point)});
    const std::optional<RobustChoice> choice =
        choose_robust(points, options_.lengths, meter_.source.space());
    if (!choice) continue;
    RobustPlan& plan = plans.emplace_back();
    plan.worst_regret = choice->worst_regret;
    plan.winner = robust_winner(points.front().point.problem, *choice);
    plan.winner.workspace_bytes =
        meter_.source.space().use(plan.winner.problem, choice->config).workspace_bytes;
  }
  return plans;
}

}  // namespace mla::tuner

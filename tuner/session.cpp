// SPDX-License-Identifier: MIT
#include "tuner/session.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "kernels/error.h"
#include "policy/selection.h"
#include "policy/shape_grid.h"
#include "tuner/budget.h"
#include "tuner/crossing.h"
#include "tuner/robust.h"
#include "tuner/shape_tuning.h"

namespace mla::tuner {
namespace {

bool has_cells(const std::vector<Problem>& problems) {
  std::vector<policy::GridPoint> points;
  for (const Problem& problem : problems)
    points.push_back({family_key(problem), problem.batch, problem.seq_len});
  bool any = false;
  policy::for_each_cell(points, [&](const policy::GridCell&) { any = true; });
  return any;
}

class Session {
 public:
  Session(CandidateSource& source,
          db::Store* store,
          const db::RunInfo& run,
          const std::vector<Problem>& problems,
          const SessionOptions& options,
          const std::function<void(const ProgressEvent&)>& observer,
          const std::atomic<bool>& stop)
      : meter_{source},
        store_(store),
        run_(run),
        problems_(problems),
        options_(options),
        observer_(observer),
        stop_(stop),
        budget_(
            options.budget_s, problems, options.cross && has_cells(problems) ? kCrossingShare : 0) {
  }

  SessionResult tune_all() {
    if (store_ != nullptr) {
      run_id_ = store_->begin_run(run_);
      find_finished();
    }
    SessionResult result;
    tune_each(&result);
    if (options_.cross) {
      result.crossing = cross();
      result.robust = choose_plans();
    }
    result.samples_measured = meter_.samples_measured;
    result.samples_reused = meter_.samples_reused;
    result.device_s = meter_.device_s;
    result.elapsed_s = budget_.elapsed_s();
    return result;
  }

 private:
  void tune_each(SessionResult* result) {
    try {
      for (size_t i = 0; i < problems_.size(); ++i) result->shapes.push_back(tune(i));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kDevice || !options_.outlive_device) throw;
      result->lost_device = error.what();
      while (result->shapes.size() < problems_.size())
        result->shapes.push_back(
            {problems_[result->shapes.size()], ShapeStatus::kFailed, {}, error.what()});
    }
  }

  // What was finished on this device, or on another of the same hard fields, under the same key.
  void find_finished() {
    const db::TuningKey key = key_of({});
    for (const db::TuningSummary& stored : store_->summaries())
      if (device_key(stored.device) == device_key(key.device) &&
          stored.environment == key.environment && stored.protocol == key.protocol &&
          stored.seed == key.seed)
        finished_.emplace(stored.winner.problem, stored.tuning_id);
  }

  db::TuningState state_of(const Problem& problem) {
    if (store_ == nullptr) return {};
    const auto finished = finished_.find(problem);
    if (finished != finished_.end()) return {finished->second, true};
    return store_->open_tuning(run_id_, key_of(problem));
  }

  ShapeResult tune(size_t index) {
    const Problem& problem = problems_[index];
    const db::TuningState tuning = state_of(problem);
    ShapeResult result =
        tuning.finished ? already_done(problem, tuning.id) : tune_now(index, tuning.id);
    ProgressEvent end;
    end.kind =
        tuning.finished ? ProgressEvent::Kind::kShapeSkipped : ProgressEvent::Kind::kShapeEnd;
    end.problem = problem;
    end.winner = &result.winner;
    emit(index, &end);
    if (result.answered()) points_.push_back(cross_point(result.winner, tuning.id, true));
    return result;
  }

  ShapeResult tune_now(size_t index, int64_t tuning_id) {
    const Problem& problem = problems_[index];
    if (stop_.load(std::memory_order_relaxed))
      return {problem, ShapeStatus::kStopped, {}, "stopped"};
    const ShapeLimits limits{budget_.deadline(index), budget_.work_after(index)};
    if (Clock::now() >= limits.deadline)
      return {problem, ShapeStatus::kOutOfBudget, {}, "the budget was used up before it"};
    ShapeTuning tuning(
        meter_,
        store_,
        tuning_id,
        problem,
        options_,
        limits,
        [this, index](ProgressEvent* event) { emit(index, event); },
        stop_);
    ShapeResult result = tuning.run();
    if (result.status == ShapeStatus::kDone && store_ != nullptr)
      store_->finish_tuning(tuning_id, result.winner);
    return result;
  }

  ShapeResult already_done(const Problem& problem, int64_t tuning_id) const {
    const std::optional<db::WinnerRecord> winner = store_->load_winner(tuning_id);
    if (!winner)
      throw Error(ErrorCode::kDatabase,
                  store_->path() + ": tuning " + std::to_string(tuning_id) +
                      " is marked finished and has no winner");
    return {problem, ShapeStatus::kAlreadyDone, *winner, ""};
  }

  db::TuningKey key_of(const Problem& problem) const {
    db::TuningKey key;
    key.device = meter_.source.info();
    key.environment = meter_.source.environment();
    key.problem = problem;
    key.protocol = protocol_text(options_);
    // Never equal to a finished tuning's.
    if (options_.retune) key.protocol += " retune=" + run_.started_utc;
    key.seed = options_.seed;
    return key;
  }

  // Shapes of other sessions on this device, in this environment, complete the grid.
  void add_stored_points() {
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

  // What was measured at a point, here or before.
  std::vector<db::LossRecord>& losses_at(size_t point) {
    const auto [found, absent] = losses_.try_emplace(point);
    if (absent && store_ != nullptr) found->second = store_->load_losses(points_[point].tuning_id);
    return found->second;
  }

  CrossingCounts cross() {
    add_stored_points();
    groups_ = length_groups(points_, options_.lengths);
    const auto known = [this](size_t point, const KernelConfig& config) {
      const std::vector<db::LossRecord>& losses = losses_at(point);
      return std::any_of(losses.begin(), losses.end(), [&](const db::LossRecord& loss) {
        return loss.config == config;
      });
    };
    const std::vector<CrossTask> tasks =
        plan_crossing(points_, groups_, meter_.source.space(), known);
    CrossingCounts counts;
    for (const CrossTask& task : tasks) counts.planned += static_cast<int64_t>(task.configs.size());
    if (counts.planned > 0) emit_crossing(ProgressEvent::Kind::kCrossBegin, tasks[0], counts);
    for (const CrossTask& task : tasks) {
      const auto on_round = [&](int) {
        emit_crossing(ProgressEvent::Kind::kCrossRound, task, counts);
      };
      for (const db::LossRecord& loss : measure_crossing(meter_,
                                                         store_,
                                                         points_[task.point],
                                                         task,
                                                         options_.seed,
                                                         budget_.end(),
                                                         on_round,
                                                         stop_)) {
        const bool held = loss.rounds > 0 && loss.loss <= policy::kLossBound;
        ++(held ? counts.held : counts.lost);
        losses_at(task.point).push_back(loss);
      }
    }
    return counts;
  }

  std::vector<RobustPlan> choose_plans() {
    std::vector<RobustPlan> plans;
    for (const LengthGroup& group : groups_) {
      std::vector<RobustPoint> points;
      for (const size_t point : group) points.push_back({points_[point], losses_at(point)});
      const std::optional<RobustChoice> choice =
          choose_robust(points, options_.lengths, meter_.source.space());
      if (!choice) continue;
      RobustPlan& plan = plans.emplace_back();
      plan.worst_regret = choice->worst_regret;
      plan.winner = robust_winner(points, *choice);
      plan.winner.workspace_bytes =
          meter_.source.space().use(plan.winner.problem, choice->config).workspace_bytes;
      keep_plan(plan.winner);
    }
    return plans;
  }

  void keep_plan(const db::WinnerRecord& winner) {
    if (store_ == nullptr) return;
    db::TuningKey key = key_of(winner.problem);
    key.protocol += " lengths={" + lengths_text(options_.lengths) + "}";
    const db::TuningState tuning = store_->open_tuning(run_id_, key);
    const std::optional<db::WinnerRecord> stored = store_->load_winner(tuning.id);
    // The same evidence gives the same plan, until a shape is tuned anew.
    if (!stored || stored->config != winner.config || stored->gain != winner.gain)
      store_->finish_tuning(tuning.id, winner);
  }

  void emit_crossing(ProgressEvent::Kind kind,
                     const CrossTask& task,
                     const CrossingCounts& counts) const {
    ProgressEvent event;
    event.kind = kind;
    event.problem = points_[task.point].problem;
    event.done = counts.held + counts.lost;
    event.total = counts.planned;
    emit(problems_.size() - 1, &event);
  }

  void emit(size_t index, ProgressEvent* event) const {
    event->shape = index;
    event->shapes = problems_.size();
    event->elapsed_s = budget_.elapsed_s();
    if (budget_.limited()) {
      const double left_s = std::max(0.0, options_.budget_s - event->elapsed_s);
      event->eta_high_s = std::min(event->eta_high_s, left_s);
      event->eta_low_s = std::min(event->eta_low_s, event->eta_high_s);
    }
    if (observer_) observer_(*event);
  }

  SourceMeter meter_;
  db::Store* store_;
  const db::RunInfo& run_;
  const std::vector<Problem>& problems_;
  const SessionOptions& options_;
  const std::function<void(const ProgressEvent&)>& observer_;
  const std::atomic<bool>& stop_;
  const Budget budget_;
  std::unordered_map<Problem, int64_t> finished_;  // tuning ids
  std::vector<CrossPoint> points_;                 // shapes with an answer
  std::vector<LengthGroup> groups_;
  std::map<size_t, std::vector<db::LossRecord>> losses_;  // by point
  int64_t run_id_ = 0;
};

}  // namespace

SessionResult run_session(CandidateSource& source,
                          db::Store* store,
                          const db::RunInfo& run,
                          const std::vector<Problem>& problems,
                          const SessionOptions& options,
                          const std::function<void(const ProgressEvent&)>& observer,
                          const std::atomic<bool>& stop) {
  require_usable(options);
  return Session(source, store, run, problems, options, observer, stop).tune_all();
}

}  // namespace mla::tuner

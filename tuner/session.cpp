// SPDX-License-Identifier: MIT
#include "tuner/session.h"

#include <algorithm>
#include <unordered_map>

#include "kernels/error.h"
#include "policy/shape_grid.h"
#include "tuner/budget.h"
#include "tuner/cross_stage.h"
#include "tuner/seed_book.h"
#include "tuner/shape_tuning.h"

namespace mla::tuner {
namespace {

// Passes of refinement: each may halve the distance between two winners that disagree.
constexpr int kRefinePasses = 3;

bool has_cells(const std::vector<Problem>& problems) {
  std::vector<policy::GridPoint> points;
  for (const Problem& problem : problems) points.push_back(policy::grid_point(problem));
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
        options_(usable_at(source, options)),
        observer_(observer),
        stop_(stop),
        budget_(options.budget_s,
                problems,
                options.cross && has_cells(problems) ? crossing_share(options_) : 0,
                options_.small_search),
        stage_(meter_, store, options_),
        seeds_(source) {}

  SessionResult tune_all() {
    if (store_ != nullptr) {
      run_id_ = store_->begin_run(run_);
      find_finished();
      if (options_.small_search) seeds_.add_stored(*store_);
    }
    SessionResult result;
    try {
      for (size_t i = 0, given = problems_.size(); i < given; ++i) result.shapes.push_back(tune(i));
      if (options_.cross) follow_shapes(&result);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kDevice || !options_.outlive_device) throw;
      result.lost_device = error.what();
    }
    result.crossing = stage_.counts();
    result.samples_measured = meter_.samples_measured;
    result.samples_reused = meter_.samples_reused;
    result.device = meter_.device;
    result.elapsed_s = budget_.elapsed_s();
    return result;
  }

 private:
  void follow_shapes(SessionResult* result) {
    stage_.add_stored();
    cross();
    if (options_.refine) refine(result);
    result->robust = stage_.choose_plans();
    for (const RobustPlan& plan : result->robust) keep_plan(plan.winner);
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
    if (result.answered()) {
      stage_.add(result.winner, tuning.id);
      if (options_.small_search) seeds_.add(result.winner);
    }
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
        options_.small_search ? seeds_.seeds_for(problem, options_.seed)
                              : std::vector<KernelConfig>{},
        [this, index](ProgressEvent* event) { emit(index, event); },
        stop_);
    ShapeResult result = tuning.run();
    if (options_.small_search) seeds_.add(tuning.timings());
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

  void cross() {
    stage_.measure(
        budget_.end(),
        [this](const Problem& problem, const CrossingCounts& counts, bool begin) {
          ProgressEvent event;
          event.kind = begin ? ProgressEvent::Kind::kCrossBegin : ProgressEvent::Kind::kCrossRound;
          event.problem = problem;
          event.done = counts.held + counts.lost;
          event.total = counts.planned;
          emit(problems_.size() - 1, &event);
        },
        stop_);
  }

  void refine(SessionResult* result) {
    for (int pass = 0; pass < kRefinePasses; ++pass) {
      std::vector<Problem> added = stage_.disagreements();
      std::erase_if(added, [&](const Problem& problem) {  // tried without an answer
        return std::find(problems_.begin(), problems_.end(), problem) != problems_.end();
      });
      if (added.empty() || stop_ || Clock::now() >= budget_.end()) break;
      budget_.add(added);
      for (const Problem& problem : added) {
        problems_.push_back(problem);
        const ShapeResult shape = tune(problems_.size() - 1);
        if (!shape.answered()) continue;
        result->shapes.push_back(shape);
        ++result->refine.tuned;
      }
      cross();
    }
    result->refine.left = static_cast<int64_t>(stage_.disagreements().size());
  }

  void keep_plan(const db::WinnerRecord& winner) {
    if (store_ == nullptr) return;
    db::TuningKey key = key_of(winner.problem);
    key.protocol += plan_protocol(options_.lengths);
    const db::TuningState tuning = store_->open_tuning(run_id_, key);
    const std::optional<db::WinnerRecord> stored = store_->load_winner(tuning.id);
    // The same evidence gives the same plan, until a shape is tuned anew.
    if (!stored || stored->config != winner.config || stored->gain != winner.gain)
      store_->finish_tuning(tuning.id, winner);
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
  std::vector<Problem> problems_;
  const SessionOptions options_;
  const std::function<void(const ProgressEvent&)>& observer_;
  const std::atomic<bool>& stop_;
  std::unordered_map<Problem, int64_t> finished_;  // tuning ids
  Budget budget_;
  CrossStage stage_;
  SeedBook seeds_;
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

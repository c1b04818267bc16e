// SPDX-License-Identifier: MIT
#include "tuner/session.h"

#include <algorithm>
#include <set>

#include "kernels/error.h"
#include "kernels/text.h"
#include "tuner/budget.h"
#include "tuner/shape_tuning.h"

namespace mla::tuner {
namespace {

// Changes where the search or the final changes what it measures for equal options.
constexpr const char* kProtocolVersion = "halving-1";

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
        budget_(options.budget_s, problems) {}

  SessionResult tune_all() {
    if (store_ != nullptr) run_id_ = store_->begin_run(run_);
    SessionResult result;
    for (size_t i = 0; i < problems_.size(); ++i) result.shapes.push_back(tune(i));
    result.samples_measured = meter_.samples_measured;
    result.samples_reused = meter_.samples_reused;
    result.device_s = meter_.device_s;
    result.elapsed_s = budget_.elapsed_s();
    return result;
  }

 private:
  ShapeResult tune(size_t index) {
    const Problem& problem = problems_[index];
    db::TuningState tuning;
    if (store_ != nullptr) tuning = store_->open_tuning(run_id_, key_of(problem));
    ShapeResult result =
        tuning.finished ? already_done(problem, tuning.id) : tune_now(index, tuning.id);
    ProgressEvent end;
    end.kind =
        tuning.finished ? ProgressEvent::Kind::kShapeSkipped : ProgressEvent::Kind::kShapeEnd;
    end.problem = problem;
    end.winner = &result.winner;
    emit(index, &end);
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
  int64_t run_id_ = 0;
};

void check(const SessionOptions& options) {
  usable_final_rounds(options.final_rounds);
  if (options.baseline != kDefaultRole && options.baseline != kDrainedRole)
    throw Error(ErrorCode::kUsage,
                "baseline: " + quoted(options.baseline) + " is neither default nor drained");
}

}  // namespace

std::string protocol_text(const SessionOptions& options) {
  std::string text = std::string(kProtocolVersion) +
                     " final_rounds=" + std::to_string(options.final_rounds) +
                     " baseline=" + options.baseline;
  if (options.max_configs > 0) text += " max_configs=" + std::to_string(options.max_configs);
  if (options.estimate_us) text += " order=estimate";
  std::set<std::string> only;
  for (const KernelConfig& config : options.only) only.insert(to_text(config));
  for (const std::string& config : only) text += " only={" + config + "}";
  return text;
}

SessionResult run_session(CandidateSource& source,
                          db::Store* store,
                          const db::RunInfo& run,
                          const std::vector<Problem>& problems,
                          const SessionOptions& options,
                          const std::function<void(const ProgressEvent&)>& observer,
                          const std::atomic<bool>& stop) {
  check(options);
  return Session(source, store, run, problems, options, observer, stop).tune_all();
}

}  // namespace mla::tuner

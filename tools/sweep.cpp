// SPDX-License-Identifier: MIT
#include "tools/sweep.h"

#include <algorithm>

#include "tuner/budget.h"

namespace mla::tools {
namespace {

class SweepRun {
 public:
  SweepRun(tuner::CandidateSource& source,
           const std::vector<SweepGroup>& groups,
           const SweepOptions& options,
           const std::function<void(const tuner::ProgressEvent&)>& observer,
           const std::atomic<bool>& stop)
      : source_(source),
        groups_(groups),
        options_(options),
        observer_(observer),
        stop_(stop),
        budget_(options.budget_s, problems_of(groups)) {}

  void run(std::vector<SweptGroup>* swept) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (stop_ || tuner::Clock::now() >= end()) break;
      swept->push_back(measure(i));
    }
  }

 private:
  // One for all groups: their rounds are counted, and a share by work would leave a small one no
  // time to load its rows.
  tuner::Clock::time_point end() const { return budget_.deadline(groups_.size() - 1); }

  static std::vector<Problem> problems_of(const std::vector<SweepGroup>& groups) {
    std::vector<Problem> problems;
    for (const SweepGroup& group : groups) problems.push_back(group.problem);
    return problems;
  }

  SweptGroup measure(size_t index) {
    const SweepGroup& group = groups_[index];
    SweptGroup swept;
    swept.problem = group.problem;
    std::vector<KernelConfig> configs;
    for (const SweepLeg& leg : group.legs) {
      swept.legs.push_back({leg, source_.space().use(group.problem, leg.config), {}, {}});
      if (leg.left_out.empty()) configs.push_back(leg.config);
    }
    if (!group.legs.front().left_out.empty()) return swept;
    group_start_s_ = budget_.elapsed_s();

    CompareOptions options;
    options.max_rounds = options_.rounds;
    options.seed = options_.seed;
    options.deadline = end();
    options.on_round = [&](const Comparison& so_far) { report_round(index, so_far); };
    const Comparison compared = compare(source_, group.problem, configs, options, stop_);
    swept.placebo_noise = compared.placebo_noise;
    swept.complete = compared.complete;
    size_t next = 0;
    for (SweptLeg& leg : swept.legs) {
      if (!leg.plan.left_out.empty()) continue;
      leg.result = compared.legs[next++];
      leg.round_gains = round_gains(compared.legs.front(), leg.result);
      report_failure(index, leg);
    }
    return swept;
  }

  tuner::ProgressEvent event(tuner::ProgressEvent::Kind kind, size_t index) const {
    tuner::ProgressEvent event;
    event.kind = kind;
    event.shape = index;
    event.shapes = groups_.size();
    event.problem = groups_[index].problem;
    event.elapsed_s = budget_.elapsed_s();
    return event;
  }

  void report_round(size_t index, const Comparison& so_far) const {
    if (!observer_) return;
    tuner::ProgressEvent round = event(tuner::ProgressEvent::Kind::kRound, index);
    const auto legs = static_cast<int64_t>(so_far.legs.size());
    const auto rounds = static_cast<int64_t>(so_far.legs.front().times_us.size());
    round.done = rounds * legs;
    round.total = options_.rounds * legs;
    // From so many rounds of every group.
    const double spent_s = round.elapsed_s - group_start_s_;
    const auto left_s = [&](int group_rounds) {
      const double group_s = spent_s * group_rounds / static_cast<double>(rounds);
      return std::max(0.0, group_s * (1 + budget_.work_after(index)) - spent_s);
    };
    round.eta_low_s = left_s(tuner::kLooks.front().rounds);
    round.eta_high_s = left_s(options_.rounds);
    observer_(round);
  }

  void report_failure(size_t index, const SweptLeg& leg) const {
    if (!observer_ || leg.result.outcome.ok()) return;
    tuner::ProgressEvent failure = event(tuner::ProgressEvent::Kind::kAdmitFailed, index);
    failure.config = leg.result.config;
    failure.outcome = leg.result.outcome;
    observer_(failure);
  }

  tuner::CandidateSource& source_;
  const std::vector<SweepGroup>& groups_;
  const SweepOptions& options_;
  const std::function<void(const tuner::ProgressEvent&)>& observer_;
  const std::atomic<bool>& stop_;
  const tuner::Budget budget_;
  double group_start_s_ = 0;
};

}  // namespace

void measure_groups(tuner::CandidateSource& source,
                    const std::vector<SweepGroup>& groups,
                    const SweepOptions& options,
                    const std::function<void(const tuner::ProgressEvent&)>& observer,
                    const std::atomic<bool>& stop,
                    std::vector<SweptGroup>* swept) {
  SweepRun(source, groups, options, observer, stop).run(swept);
}

bool is_judged(const SweptLeg& leg) {
  return leg.result.role == "candidate" && leg.result.outcome.ok() && leg.result.time_us > 0;
}

std::string verdict_text(const SweptLeg& leg) {
  if (!leg.plan.left_out.empty()) return "left out: " + leg.plan.left_out;
  const Outcome& outcome = leg.result.outcome;
  if (!outcome.ok()) return std::string(name(outcome.kind)) + ": " + outcome.text;
  if (!(leg.result.time_us > 0)) return "not measured";
  return is_judged(leg) ? verdict_text(leg.result.decision.state) : leg.plan.name;
}

}  // namespace mla::tools

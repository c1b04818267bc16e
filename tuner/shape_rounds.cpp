// SPDX-License-Identifier: MIT
// The measuring half of ShapeTuning: rungs, semifinal, final, and what is reported of them.
#include <algorithm>

#include "tuner/seeds.h"
#include "tuner/shape_tuning.h"

namespace mla::tuner {
namespace {

// Knobs in which a neighbour of the best differs at most: some depend on each other, as tile and
// stages do through the ring they fill.
constexpr int kMostKnobs = 2;

// Without those that were dropped in an earlier round: their ratios come from fewer rounds.
std::vector<Standing> standings_of(const std::vector<Leg>& legs, std::vector<Standing> all) {
  std::unordered_set<KernelConfig> running;
  for (const Leg& leg : legs) running.insert(leg.config);
  std::erase_if(all, [&](const Standing& s) { return running.count(s.config) == 0; });
  return all;
}

}  // namespace

std::vector<Standing> ShapeTuning::search(std::vector<KernelConfig> live) {
  int32_t rung = kFirstRung;
  do {
    halve(&live, &rung);
  } while (add_neighbours(rung, &live));
  const bool compared = rung > kFirstRung || live.empty();
  const std::vector<db::RoundRecord> semifinal =
      run_rung(db::Phase::kSemifinal, 0, kSemifinalRounds, &live);
  if (semifinal.empty() && !compared)
    throw Ended{ShapeStatus::kOutOfBudget, "no time for one round of its configurations"};
  // Rounds of its own, so that luck in the search does not count twice.
  return rank(semifinal.empty() ? search_rounds_ : semifinal, reference().config);
}

void ShapeTuning::halve(std::vector<KernelConfig>* live, int32_t* rung) {
  while (live->size() > kSemifinalists) {
    if (run_rung(db::Phase::kSearch, *rung, kRungRounds, live).empty()) {
      // Candidates far slower than the default: fewer of them, in the order of visits.
      live->resize(live->size() / 4);
      continue;
    }
    *live = survivors(*live, rank(search_rounds_, reference().config));
    ++*rung;
  }
}

std::vector<KernelConfig> ShapeTuning::unmeasured_neighbours(const KernelConfig& center) const {
  const auto known = [this](const KernelConfig& config) {
    return measured_.count(config) != 0 || admission_.dropped(config);
  };
  std::vector<KernelConfig> near;
  if (options_.small_search) {
    near = near_configs(meter_.source.space(), problem_, center);
    std::erase_if(near, known);
    return near;
  }
  for (int knobs = 1; knobs <= kMostKnobs && near.empty(); ++knobs) {
    near = neighbours(visits_, center, knobs);
    std::erase_if(near, known);
  }
  return near;
}

bool ShapeTuning::add_neighbours(int32_t rung, std::vector<KernelConfig>* live) {
  std::vector<KernelConfig> added = stored_population(db::Phase::kSearch, rung);
  if (added.empty()) {
    const bool closed = book_.closed({db::Phase::kSearch, rung, 0, 0});
    const std::vector<Standing> standings = rank(search_rounds_, reference().config);
    const bool over = unvisited() == 0 || Clock::now() >= search_deadline_;
    if (closed || over || standings.empty()) return false;
    added = admit_candidates(unmeasured_neighbours(standings.front().config));
  }
  const std::unordered_set<KernelConfig> present(live->begin(), live->end());
  const size_t before = live->size();
  for (const KernelConfig& config : added)
    if (present.count(config) == 0) live->push_back(config);
  if (options_.small_search) eligible_.insert(added.begin(), added.end());
  visited_ += live->size() - before;
  return live->size() > before;
}

std::vector<db::RoundRecord> ShapeTuning::run_rung(db::Phase phase,
                                                   int32_t rung,
                                                   int count,
                                                   std::vector<KernelConfig>* live) {
  // A first round that takes more than half of what is left would leave nothing to choose from.
  const Clock::time_point begin = Clock::now();
  const bool halve = phase == db::Phase::kSearch && limited() && search_deadline_ > begin;
  const Clock::time_point first_end =
      halve ? std::min(limits_.deadline, begin + (search_deadline_ - begin) / 2) : final_start_;
  std::vector<db::RoundRecord> rounds;
  for (int32_t i = 0; i < count; ++i) {
    const RoundName name{phase, rung, i, 0};
    const std::vector<Leg> legs = legs_of(*live);
    if (!book_.stored(name)) {
      if (book_.closed(name)) break;
      if (i > 0 && !fits(legs.size(), search_deadline_)) break;
    }
    db::RoundRecord round;
    const RoundEnd end = book_.obtain(name, legs, i == 0 ? first_end : final_start_, &round);
    if (end == RoundEnd::kStopped) throw Ended{ShapeStatus::kStopped, "stopped"};
    if (end == RoundEnd::kOutOfTime) break;
    count_round(round);
    rounds.push_back(round);
    search_rounds_.push_back(std::move(round));
    const std::vector<Standing> standings = standings_of(legs, rank(rounds, reference().config));
    drop_losers(standings, live);
    report_round(ProgressEvent::Kind::kRound, standings);
  }
  return rounds;
}

void ShapeTuning::drop_losers(const std::vector<Standing>& standings,
                              std::vector<KernelConfig>* live) {
  std::unordered_set<KernelConfig> lost;
  for (const Standing& standing : standings)
    if (hopeless(standing, standings.front().ratio)) lost.insert(standing.config);
  std::erase_if(*live, [&](const KernelConfig& config) {
    if (admission_.failed(config)) return true;
    if (lost.count(config) == 0) return false;
    admission_.fail(config, {OutcomeKind::kSlow, "far behind the best"});
    return true;
  });
}

FinalPlan ShapeTuning::plan_final(const std::vector<Standing>& standings) const {
  FinalPlan plan;
  plan.rounds = final_rounds_;
  plan.reference = reference();
  for (const Baseline& baseline : usable_baselines())
    if (baseline.config != plan.reference.config) plan.other = baseline;
  for (const Standing& standing : standings) {
    const bool usable = standing.config != plan.reference.config &&
                        !admission_.dropped(standing.config) &&
                        eligible_.count(standing.config) != 0;
    if (!usable) continue;
    plan.finalist = standing.config;
    break;
  }
  return plan;
}

db::WinnerRecord ShapeTuning::run_final(const std::vector<Standing>& standings) {
  for (;;) {
    const FinalPlan plan = plan_final(standings);
    std::vector<db::RoundRecord> rounds;
    if (!measure_final(plan, &rounds)) continue;  // a leg has failed and is not in the next plan
    if (static_cast<int>(rounds.size()) < kLooks.front().rounds)
      throw Ended{ShapeStatus::kOutOfBudget, "the budget ended within the final"};
    db::WinnerRecord winner = judge(plan, rounds);
    complete(&winner);
    return winner;
  }
}

bool ShapeTuning::measure_final(const FinalPlan& plan, std::vector<db::RoundRecord>* rounds) {
  const std::vector<Leg> legs = final_legs(plan);
  const int32_t attempt = book_.next_attempt(db::Phase::kFinal);
  while (!final_complete(plan, *rounds)) {
    if (!fits(legs.size(), limits_.deadline)) break;
    const RoundName name{db::Phase::kFinal, 0, static_cast<int32_t>(rounds->size()), attempt};
    db::RoundRecord round;
    const RoundEnd end = book_.obtain(name, legs, limits_.deadline, &round);
    if (end == RoundEnd::kStopped) throw Ended{ShapeStatus::kStopped, "stopped"};
    if (end == RoundEnd::kOutOfTime) break;
    count_round(round);
    for (const Leg& leg : legs)
      if (admission_.failed(leg.config)) return false;
    rounds->push_back(std::move(round));
    report_round(ProgressEvent::Kind::kFinalRound, rank(*rounds, plan.reference.config));
  }
  return true;
}

void ShapeTuning::complete(db::WinnerRecord* winner) const {
  winner->problem = problem_;
  winner->default_config = default_config_;
  // Where both baselines are one configuration there is no leg of the other's role.
  if (default_config_ == drained_config_) winner->drained_gain = winner->gain;
  winner->workspace_bytes = meter_.source.space().use(problem_, winner->config).workspace_bytes;
  winner->configs_measured = static_cast<int64_t>(measured_.size());
  winner->configs_pruned = pruned_;
  winner->configs_failed = admission_.failures();
}

bool ShapeTuning::fits(size_t samples, Clock::time_point deadline) const {
  if (!limited()) return true;
  const double needed_s = book_.sample_s() * static_cast<double>(samples);
  return std::chrono::duration<double>(deadline - Clock::now()).count() > needed_s;
}

void ShapeTuning::check_stop() const {
  if (stop_.load(std::memory_order_relaxed)) throw Ended{ShapeStatus::kStopped, "stopped"};
}

std::vector<Baseline> ShapeTuning::usable_baselines() const {
  std::vector<Baseline> usable;
  for (const Baseline& baseline : baselines_)
    if (!admission_.failed(baseline.config)) usable.push_back(baseline);
  return usable;
}

Baseline ShapeTuning::reference() const {
  const std::vector<Baseline> usable = usable_baselines();
  if (usable.empty())
    throw Ended{ShapeStatus::kFailed, "every baseline failed while it was measured"};
  return usable.front();
}

std::vector<Leg> ShapeTuning::legs_of(const std::vector<KernelConfig>& live) const {
  std::vector<Leg> legs;
  for (const Baseline& baseline : usable_baselines())
    legs.push_back({baseline.config, baseline.role});
  for (const KernelConfig& config : live) legs.push_back({config, kCandidateRole});
  return legs;
}

void ShapeTuning::count_round(const db::RoundRecord& round) {
  done_ += static_cast<int64_t>(round.samples.size());
  for (const db::SampleRecord& sample : round.samples)
    if (sample.outcome == OutcomeKind::kOk) measured_.insert(sample.config);
}

void ShapeTuning::report_round(ProgressEvent::Kind kind, const std::vector<Standing>& standings) {
  if (standings.empty()) return;
  const bool new_best = best_.rounds == 0 || best_.config != standings.front().config;
  best_ = standings.front();
  if (new_best && kind == ProgressEvent::Kind::kRound) {
    ProgressEvent found = event(ProgressEvent::Kind::kNewBest);
    emit_(&found);
  }
  ProgressEvent round = event(kind);
  emit_(&round);
}

ProgressEvent ShapeTuning::event(ProgressEvent::Kind kind) const {
  ProgressEvent progress;
  progress.kind = kind;
  progress.problem = problem_;
  progress.done = done_;
  progress.total = std::max(total_, done_);
  progress.failed = admission_.failures();
  if (best_.rounds > 0) {
    progress.config = best_.config;
    progress.best_us = best_.time_us;
    progress.gain = 1 / best_.ratio - 1;
  }
  // The guard may decide at its first look; every later shape may take as many samples as this one.
  const double sample_s = book_.sample_s();
  const int64_t avoidable = int64_t{kFinalLegs} * (final_rounds_ - kLooks.front().rounds);
  const auto left = static_cast<double>(progress.total - done_);
  const double later = limits_.work_after * static_cast<double>(progress.total);
  progress.eta_high_s = sample_s * (left + later);
  progress.eta_low_s = std::max(
      0.0,
      progress.eta_high_s - sample_s * static_cast<double>(avoidable) * (1 + limits_.work_after));
  return progress;
}

}  // namespace mla::tuner

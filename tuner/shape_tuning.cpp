// SPDX-License-Identifier: MIT
#include "tuner/shape_tuning.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "policy/default_policy.h"
#include "tuner/seeds.h"

namespace mla::tuner {
namespace {

constexpr int kProbeRounds = 3;

// Rounds of all rungs of a population, in rounds of all its members: each keeps a third.
constexpr double kHalvingRounds = 1.5 * kRungRounds;

// Room for samples that take longer than those so far.
constexpr double kTimeReserve = 1.2;
// Candidates take so much longer than the default, on average over a space.
constexpr double kCandidateFactor = 1.5;

double seconds_until(Clock::time_point time) {
  return std::chrono::duration<double>(time - Clock::now()).count();
}

}  // namespace

ShapeTuning::ShapeTuning(SourceMeter& meter,
                         db::Store* store,
                         int64_t tuning_id,
                         const Problem& problem,
                         const SessionOptions& options,
                         const ShapeLimits& limits,
                         std::vector<KernelConfig> seeds,
                         Emit emit,
                         const std::atomic<bool>& stop)
    : meter_(meter),
      problem_(problem),
      options_(options),
      limits_(limits),
      seeds_(std::move(seeds)),
      emit_(std::move(emit)),
      stop_(stop),
      final_rounds_(usable_final_rounds(options.final_rounds)),
      admission_(meter,
                 store,
                 tuning_id,
                 [this](const KernelConfig& config, const Outcome& outcome) {
                   ProgressEvent failure = event(ProgressEvent::Kind::kAdmitFailed);
                   failure.config = config;
                   failure.outcome = outcome;
                   emit_(&failure);
                 }),
      book_(meter, admission_, store, tuning_id, stop) {
  const Space& space = meter.source.space();
  default_config_ = policy::DefaultPolicy(space)(problem);
  drained_config_ = policy::drained_baseline(space, problem);
  baselines_ = {{kDefaultRole, default_config_}, {kDrainedRole, drained_config_}};
  if (options.baseline == kDrainedRole) std::swap(baselines_[0], baselines_[1]);
  if (default_config_ == drained_config_) baselines_.pop_back();
}

ShapeResult ShapeTuning::run() {
  ShapeResult result;
  result.problem = problem_;
  try {
    result.winner = tune();
    result.status = ShapeStatus::kDone;
  } catch (const Ended& ended) {
    result.status = ended.status;
    result.text = ended.text;
    result.winner.problem = problem_;
    result.winner.default_config = result.winner.config = default_config_;
    if (ended.status == ShapeStatus::kFailed) result.winner.verdict = db::Verdict::kFailed;
  }
  return result;
}

db::WinnerRecord ShapeTuning::tune() {
  ProgressEvent begin = event(ProgressEvent::Kind::kShapeBegin);
  begin.resumed_rounds = book_.stored_rounds();
  emit_(&begin);
  const Outcome selected = meter_.select(problem_, options_.seed);
  if (!selected.ok())
    throw Ended{ShapeStatus::kFailed, std::string(name(selected.kind)) + ": " + selected.text};
  admit_baselines();
  probe();
  plan_time();
  const std::vector<KernelConfig> population = choose_population();
  total_ = done_ + planned_search_samples(population.size(), usable_baselines().size()) +
           int64_t{kFinalLegs} * final_rounds_;
  return run_final(search(population));
}

void ShapeTuning::admit_baselines() {
  bool first = true;
  std::string why;
  for (const Baseline& baseline : baselines_) {
    check_stop();
    const Outcome outcome =
        first ? admission_.admit_first(baseline.config) : admission_.admit(baseline.config);
    if (outcome.ok())
      first = false;
    else
      why += (why.empty() ? "" : "; ") + baseline.role + " (" + to_text(baseline.config) +
             "): " + std::string(name(outcome.kind)) + ", " + outcome.text;
  }
  if (first) throw Ended{ShapeStatus::kFailed, "no baseline can be measured: " + why};
}

void ShapeTuning::probe() {
  std::vector<KernelConfig> none;
  run_rung(db::Phase::kSearch, kProbeRung, kProbeRounds, &none);
  if (search_rounds_.empty())
    throw Ended{ShapeStatus::kOutOfBudget, "no time for a first round of the baselines"};
}

void ShapeTuning::plan_time() {
  if (!limited()) return;
  double sample_s = book_.sample_s();
  if (sample_s == 0)  // every round so far came from the store
    for (const Standing& standing : rank(search_rounds_, reference().config))
      sample_s = std::max(sample_s, standing.time_us * 1e-6);
  const double left_s = seconds_until(limits_.deadline);
  const double round_s = kFinalLegs * sample_s * kTimeReserve;
  const double shortest_s = kLooks.front().rounds * round_s;
  // A search of one candidate is a round of the probe's cost; less than that is no search.
  if (left_s < shortest_s + round_s)
    throw Ended{ShapeStatus::kOutOfBudget,
                "its share of the budget is shorter than the shortest final"};
  const double final_s = std::min(final_rounds_ * round_s, std::max(shortest_s, left_s / 2));
  search_deadline_ = limits_.deadline - to_duration(final_s);
  final_start_ = limits_.deadline - to_duration(shortest_s);
}

std::vector<KernelConfig> ShapeTuning::choose_population() {
  visits_ = candidates();
  std::vector<KernelConfig> stored = stored_population(db::Phase::kSearch, kFirstRung);
  if (stored.empty()) stored = stored_population(db::Phase::kSemifinal, 0);
  population_ = visits_.size();
  if (stored.empty()) stored = admit_candidates(visits_);
  // The seeds of the process that chose a stored population may have been others.
  if (options_.small_search) eligible_.insert(stored.begin(), stored.end());
  population_ = visited_ = stored.size();
  return stored;
}

std::vector<KernelConfig> ShapeTuning::stored_population(db::Phase phase, int32_t rung) const {
  const db::RoundRecord* first = book_.first_of(phase, rung);
  std::vector<KernelConfig> population;
  if (first != nullptr)
    for (const db::SampleRecord& sample : first->samples)
      if (sample.role == kCandidateRole) population.push_back(sample.config);
  return population;
}

// In the order in which time is spent on them. Baselines run in every round anyway.
std::vector<KernelConfig> ShapeTuning::candidates() {
  std::vector<KernelConfig> configs = options_.small_search ? seeds_ : options_.only;
  if (options_.small_search) {
    for (const Baseline& baseline : baselines_) eligible_.insert(baseline.config);
  } else if (configs.empty()) {
    Space::Listing listing = meter_.source.list(problem_);
    for (const auto& [constraint, count] : listing.pruned) pruned_ += count;
    configs = std::move(listing.configs);
    eligible_.insert(default_config_);
  }
  std::unordered_set<KernelConfig> seen;
  for (const Baseline& baseline : baselines_) seen.insert(baseline.config);
  eligible_.insert(configs.begin(), configs.end());
  std::erase_if(configs, [&](const KernelConfig& config) { return !seen.insert(config).second; });
  if (options_.small_search) return configs;  // in the order of the guesses
  shuffle(&configs, options_.seed);
  if (options_.estimate_us) order_by_estimate(&configs);
  const KernelConfig levers = policy::all_levers(meter_.source.space(), problem_);
  std::stable_partition(
      configs.begin(), configs.end(), [&](const KernelConfig& config) { return config == levers; });
  return configs;
}

// Those without an estimate stay in their order, behind.
void ShapeTuning::order_by_estimate(std::vector<KernelConfig>* configs) const {
  std::unordered_map<KernelConfig, double> estimates_us;
  for (const KernelConfig& config : *configs) {
    estimates_us[config] =
        options_.estimate_us(problem_, config).value_or(std::numeric_limits<double>::infinity());
  }
  std::stable_sort(configs->begin(), configs->end(), [&](const auto& a, const auto& b) {
    return estimates_us.at(a) < estimates_us.at(b);
  });
}

size_t ShapeTuning::unvisited() const {
  const size_t most = most_configs();
  if (most == 0) return visits_.size();
  return most > visited_ ? most - visited_ : 0;
}

// 0: no limit.
size_t ShapeTuning::most_configs() const {
  const auto asked = static_cast<size_t>(options_.max_configs);
  if (!options_.small_search) return asked;
  const size_t small = population_ + kSmallSteps;
  return asked == 0 ? small : std::min(asked, small);
}

std::vector<Timing> ShapeTuning::timings() const {
  std::vector<Timing> timings;
  for (const Standing& standing : rank(search_rounds_, baselines_.front().config))
    timings.push_back({problem_, standing.config, standing.time_us});
  return timings;
}

std::vector<KernelConfig> ShapeTuning::admit_candidates(
    const std::vector<KernelConfig>& candidates) {
  // A population may take half of what is left of the search, its admission a third of that time;
  // the rest is for the neighbours of the best.
  size_t most = candidates.size();
  if (options_.small_search) {
    most = std::min(most, unvisited());
  } else if (most > unvisited()) {
    most = (unvisited() + 1) / 2;
  }
  Clock::time_point until = search_deadline_;
  if (limited()) {
    const double search_s = std::max(0.0, seconds_until(search_deadline_));
    const double candidate_s = std::max(book_.sample_s() * kCandidateFactor, 1e-9) * kHalvingRounds;
    most = std::min(most, static_cast<size_t>(std::min(search_s / 2 / candidate_s, 1e9)) + 1);
    until = Clock::now() + to_duration(search_s / 3);
  }
  std::vector<KernelConfig> admitted;
  for (const KernelConfig& config : candidates) {
    check_stop();
    if (admitted.size() >= most || (!admitted.empty() && Clock::now() >= until)) break;
    if (admission_.admit(config).ok()) admitted.push_back(config);
  }
  return admitted;
}

}  // namespace mla::tuner

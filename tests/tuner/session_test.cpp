// SPDX-License-Identifier: MIT
// Whole sessions on simulated devices: acceptance figures, budget, stop and resume.
#define BOOST_TEST_MODULE tuner_session
#include "tuner/session.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tests/support/temporary_directory.h"
#include "tests/tuner/sessions.h"
#include "tuner/analytic_source.h"
#include "tuner/replay_source.h"

using namespace mla;
using namespace mla::tuner;

namespace {

std::unique_ptr<CandidateSource> recorded(const std::string& file, uint64_t seed) {
  return open_replay_source(MLA_TEST_ASSETS "/" + file +
                            ",noise=0.3%,seed=" + std::to_string(seed));
}

// The verdict on the partial wait alone, against the drained baseline.
db::WinnerRecord partial_alone(int batch, uint64_t seed) {
  const auto source = recorded("seed_levers.csv", seed);
  SessionOptions options;
  options.baseline = "drained";
  KernelConfig partial = policy::drained_baseline(source->space(), seed_problem(batch));
  partial.wait = Wait::kPartial;
  options.only = {partial};
  return tune(*source, {seed_problem(batch)}, options).shapes.at(0).winner;
}

// Stops a run at every step-th sample and continues it.
void check_resumes(AnalyticSource inner, SessionOptions options, int64_t step) {
  const SessionResult whole = tune(inner, {seed_problem(8)}, options);
  const db::WinnerRecord& expected = whole.shapes.at(0).winner;
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  options.retune = true;  // one database for all: a retune is another tuning by its run's start
  for (int64_t at = 1; at <= whole.samples_measured; at += step) {
    FaultySource source(inner);
    source.stop_at = at;
    db::RunInfo run;
    run.started_utc = "moment " + std::to_string(at);
    const auto tune_once = [&](CandidateSource& from, const std::atomic<bool>& stop) {
      return run_session(from, &store, run, {seed_problem(8)}, options, nullptr, stop);
    };
    const SessionResult cut = tune_once(source, source.stop);
    BOOST_TEST((cut.shapes.at(0).status == ShapeStatus::kStopped), at);
    const SessionResult resumed = tune_once(inner, kNeverStop);
    const db::WinnerRecord& winner = resumed.shapes.at(0).winner;
    BOOST_TEST((resumed.shapes.at(0).status == ShapeStatus::kDone));
    BOOST_TEST((winner.config == expected.config), at);
    BOOST_TEST((winner.verdict == expected.verdict));
    BOOST_TEST(winner.gain == expected.gain);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(partial_wait_alone_is_accepted_at_1_16_24_48_and_not_at_2_and_4) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const int batch : {1, 16, 24, 48})
      BOOST_TEST((partial_alone(batch, seed).verdict == db::Verdict::kFaster), batch);
    for (const int batch : {2, 4}) {
      const db::WinnerRecord winner = partial_alone(batch, seed);
      BOOST_TEST((winner.verdict != db::Verdict::kFaster), batch);
      BOOST_TEST((winner.config.wait == Wait::kDrain));
    }
  }
}

BOOST_AUTO_TEST_CASE(partial_wait_alone_ends_slower_at_8) {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    BOOST_TEST((partial_alone(8, seed).verdict == db::Verdict::kSlower));
}

BOOST_AUTO_TEST_CASE(a_plain_session_answers_partial_at_1_16_24_48_and_drain_at_8) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto source = recorded("seed_levers.csv", seed);
    for (const int batch : {1, 16, 24, 48, 8}) {
      const ShapeResult shape = tune(*source, {seed_problem(batch)}).shapes.at(0);
      BOOST_TEST((shape.status == ShapeStatus::kDone));
      const Wait expected = batch == 8 ? Wait::kDrain : Wait::kPartial;
      BOOST_TEST((shape.winner.config.wait == expected), batch << " seed " << seed);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_default_that_was_not_recorded_gives_way_to_the_drained_baseline) {
  const auto source = recorded("seed_levers.csv", 1);
  const db::WinnerRecord winner = tune(*source, {seed_problem(16)}).shapes.at(0).winner;
  BOOST_TEST(winner.reference == "drained");
  BOOST_TEST((winner.verdict == db::Verdict::kFaster));
}

BOOST_AUTO_TEST_CASE(thirty_copies_with_drift_and_outliers_replace_the_default_at_most_twice) {
  int replaced = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    AnalyticOptions device;
    device.noise = 0.01;
    device.copies = 30;
    device.drift = 0.03;
    device.outliers = 0.05;
    device.seed = seed;
    AnalyticSource source(device);
    SessionOptions options;
    options.seed = seed;
    const ShapeResult shape = tune(source, {seed_problem(8)}, options).shapes.at(0);
    replaced += shape.winner.verdict == db::Verdict::kFaster;
  }
  BOOST_TEST(replaced <= 2);
}

BOOST_AUTO_TEST_CASE(a_candidate_three_percent_better_is_found_in_950_of_1000) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    AnalyticOptions device;
    device.noise = 0.01;
    device.copies = 30;
    device.faster = 0.03;
    device.seed = seed;
    AnalyticSource source(device);
    SessionOptions options;
    options.seed = seed;
    const ShapeResult shape = tune(source, {seed_problem(8)}, options).shapes.at(0);
    found += shape.winner.verdict == db::Verdict::kFaster &&
             shape.winner.config == source.faster_copy(seed_problem(8));
  }
  BOOST_TEST(found >= 950);
}

BOOST_AUTO_TEST_CASE(the_search_over_a_whole_space_ends_within_two_percent_of_the_known_optimum) {
  AnalyticSource source(AnalyticOptions{});
  const Problem problem = seed_problem(24);
  const db::WinnerRecord winner = tune(source, {problem}).shapes.at(0).winner;
  double best_us = INFINITY;
  for (const KernelConfig& config : source.list(problem).configs)
    best_us = std::min(best_us, source.true_time_us(problem, config));
  BOOST_TEST((winner.verdict == db::Verdict::kFaster));
  BOOST_TEST(source.true_time_us(problem, winner.config) <= 1.02 * best_us);
}

BOOST_AUTO_TEST_CASE(a_budget_too_small_for_a_verdict_gives_none) {
  AnalyticSource source(AnalyticOptions{});
  SessionOptions options;
  options.budget_s = 1e-9;
  const ShapeResult shape = tune(source, {seed_problem(8)}, options).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kOutOfBudget));
  BOOST_TEST(!shape.text.empty());
}

// With time for five of some thousand configurations, the order decides what is found.
BOOST_AUTO_TEST_CASE(a_search_begins_with_the_configurations_that_are_guessed_fastest) {
  AnalyticSource source(AnalyticOptions{});
  const Problem problem = seed_problem(24);
  SessionOptions options;
  options.max_configs = 5;
  options.estimate_us = [&](const Problem& of, const KernelConfig& config) {
    return std::optional(source.true_time_us(of, config));
  };
  FaultySource guessed(source);
  tune(guessed, {problem}, options);
  double slowest_us = 0;
  std::vector<double> all_us;
  for (const KernelConfig& config : source.list(problem).configs) {
    all_us.push_back(source.true_time_us(problem, config));
  }
  std::sort(all_us.begin(), all_us.end());
  const KernelConfig reference = policy::DefaultPolicy(source.space())(problem);
  const KernelConfig drained = policy::drained_baseline(source.space(), problem);
  const KernelConfig levers = policy::all_levers(source.space(), problem);
  for (const auto& [config, count] : guessed.admissions) {
    if (config == reference || config == drained || config == levers) continue;
    slowest_us = std::max(slowest_us, source.true_time_us(problem, config));
  }
  BOOST_TEST(slowest_us > 0);
  BOOST_TEST(slowest_us <= all_us[8]);  // the five fastest beside baselines and levers
}

BOOST_AUTO_TEST_CASE(a_configuration_without_a_guess_comes_last) {
  AnalyticSource source = small_device();
  SessionOptions options;
  options.max_configs = 1;
  const KernelConfig known = source.list(seed_problem(8)).configs.back();
  options.estimate_us = [&](const Problem&, const KernelConfig& config) {
    return config == known ? std::optional(1.0) : std::nullopt;
  };
  FaultySource guessed(source);
  tune(guessed, {seed_problem(8)}, options);
  BOOST_TEST(guessed.admissions.count(known) == 1U);
}

BOOST_AUTO_TEST_CASE(fewer_final_rounds_than_the_first_look_are_refused) {
  AnalyticSource source(AnalyticOptions{});
  SessionOptions options;
  options.final_rounds = 14;
  BOOST_CHECK_THROW(tune(source, {seed_problem(8)}, options), Error);
}

BOOST_AUTO_TEST_CASE(every_option_that_changes_the_measurement_changes_the_protocol) {
  const std::string plain = protocol_text({});
  SessionOptions rounds, most, baseline, only, order, budget;
  rounds.final_rounds = 30;
  most.max_configs = 5;
  baseline.baseline = "drained";
  only.only = {KernelConfig{}};
  order.estimate_us = [](const Problem&, const KernelConfig&) { return 1.0; };
  budget.budget_s = 5;
  for (const SessionOptions& options : {rounds, most, baseline, only, order})
    BOOST_TEST(protocol_text(options) != plain);
  BOOST_TEST(protocol_text(budget) == plain);
}

BOOST_AUTO_TEST_CASE(the_same_run_twice_measures_nothing) {
  const testing::TemporaryDirectory directory;
  AnalyticSource source = small_device();
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  const SessionResult first = tune(source, {seed_problem(8)}, {}, &store);
  const SessionResult second = tune(source, {seed_problem(8)}, {}, &store);
  BOOST_TEST(first.samples_measured > 0);
  BOOST_TEST(first.device.total_s() > 0);
  BOOST_TEST(first.device.total_s() <= first.elapsed_s);
  BOOST_TEST(second.samples_measured == 0);
  BOOST_TEST(second.device.total_s() == 0);
  BOOST_TEST((second.shapes.at(0).status == ShapeStatus::kAlreadyDone));
  BOOST_TEST((second.shapes.at(0).winner.config == first.shapes.at(0).winner.config));
}

BOOST_AUTO_TEST_CASE(a_run_stopped_at_any_sample_resumes_to_the_same_winner) {
  check_resumes(small_device(), {}, 1);
}

BOOST_AUTO_TEST_CASE(a_run_stopped_among_the_neighbours_of_its_best_resumes_to_the_same_winner) {
  SessionOptions options;
  options.max_configs = 60;
  check_resumes(AnalyticSource(AnalyticOptions{}), options, 17);
}

// Each knob that is not the target's costs 10 %, and no configuration of such a sample has all.
BOOST_AUTO_TEST_CASE(a_search_of_a_small_part_of_the_space_walks_to_its_best) {
  AnalyticSource inner(AnalyticOptions{});
  const Problem problem = seed_problem(8);
  const std::vector<KernelConfig> listing = inner.list(problem).configs;
  const KernelConfig target = listing.at(listing.size() / 3);
  FaultySource source(inner);
  source.distort = [&](const KernelConfig& config, const SampleId&, double) {
    return 100.0 + 10.0 * std::count_if(kKnobs.begin(), kKnobs.end(), [&](Knob knob) {
                     return get(config, knob) != get(target, knob);
                   });
  };
  SessionOptions options;
  options.max_configs = static_cast<int64_t>(listing.size() / 25);
  const ShapeResult shape = tune(source, {problem}, options).shapes.at(0);
  BOOST_TEST((shape.winner.config == target), to_text(shape.winner.config));
}

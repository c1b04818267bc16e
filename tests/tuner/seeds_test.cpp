// SPDX-License-Identifier: MIT
// Where a small search begins and where it goes on, and what a session finds that way.
#define BOOST_TEST_MODULE seeds
#include "tuner/seeds.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "policy/default_policy.h"
#include "tests/tuner/sessions.h"

namespace mla::tuner {
namespace {

const AnalyticSource kDevice{AnalyticOptions{}};

Problem problem_of(int batch, int64_t seq_len) {
  Problem problem;
  problem.batch = batch;
  problem.seq_len = seq_len;
  return problem;
}

KnownWinner winner_of(const Problem& problem, const std::string& knobs) {
  const KernelConfig default_config = policy::DefaultPolicy(kDevice.space())(problem);
  return {problem, parse_config(knobs, default_config), default_config};
}

bool holds(const std::vector<KernelConfig>& configs, const KernelConfig& config) {
  return std::find(configs.begin(), configs.end(), config) != configs.end();
}

BOOST_AUTO_TEST_CASE(without_any_winner_the_seeds_are_legal_and_hold_the_levers) {
  const Problem problem = problem_of(8, 16384);
  const auto seeds = seed_configs(kDevice.space(), problem, {}, nullptr, 14);
  BOOST_TEST(holds(seeds, policy::all_levers(kDevice.space(), problem)));
  for (const KernelConfig& config : seeds) BOOST_TEST(kDevice.space().allows(problem, config));
}

BOOST_AUTO_TEST_CASE(a_winner_with_the_defaults_splits_is_tried_with_the_defaults_splits_here) {
  const Problem problem = problem_of(16, 16384);
  const KnownWinner near = winner_of(problem_of(8, 16384), "wait=partial tile_n=32 stages=3");
  const auto seeds = seed_configs(kDevice.space(), problem, {near}, nullptr, 14);
  KernelConfig expected = policy::DefaultPolicy(kDevice.space())(problem);
  expected.wait = Wait::kPartial;
  expected.tile_n = 32;
  expected.stages = 3;
  BOOST_TEST(holds(seeds, expected));
}

BOOST_AUTO_TEST_CASE(a_winner_with_splits_of_its_own_is_tried_with_as_many_workgroups) {
  const Problem problem = problem_of(16, 16384);
  const KnownWinner near = winner_of(problem_of(8, 16384), "splits=64 tile_n=32");
  const auto seeds = seed_configs(kDevice.space(), problem, {near}, nullptr, 14);
  KernelConfig expected = near.config;
  expected.splits = 32;
  BOOST_TEST(holds(seeds, expected));
}

BOOST_AUTO_TEST_CASE(the_nearest_winner_comes_first_and_no_more_seeds_than_asked_for) {
  const Problem problem = problem_of(16, 16384);
  const KnownWinner far = winner_of(problem_of(1, 512), "tile_n=16 stages=4");
  const KnownWinner near = winner_of(problem_of(16, 8192), "tile_n=32 stages=4");
  const auto seeds = seed_configs(kDevice.space(), problem, {far, near}, nullptr, 3);
  BOOST_TEST(seeds.size() == 3u);
  BOOST_TEST(seeds.front().tile_n == 32);
}

BOOST_AUTO_TEST_CASE(every_neighbour_is_legal_and_one_step_away) {
  const Problem problem = problem_of(8, 16384);
  const KernelConfig center = policy::DefaultPolicy(kDevice.space())(problem);
  const auto near = near_configs(kDevice.space(), problem, center);
  BOOST_TEST(near.size() >= 6u);
  for (const KernelConfig& config : near) {
    BOOST_TEST(kDevice.space().allows(problem, config));
    const auto different = [&](Knob knob) { return get(config, knob) != get(center, knob); };
    BOOST_TEST(std::count_if(kKnobs.begin(), kKnobs.end(), different) == 1);
  }
}

BOOST_AUTO_TEST_CASE(configurations_that_run_the_same_appear_once) {
  const Problem problem = problem_of(8, 100);  // four blocks of 32 rows, two of 64
  const KnownWinner near = winner_of(problem_of(8, 4096), "splits=64 tile_n=64");
  const auto seeds = seed_configs(kDevice.space(), problem, {near}, nullptr, 14);
  const std::set<KernelConfig> distinct(seeds.begin(), seeds.end());
  BOOST_TEST(distinct.size() == seeds.size());
  for (const KernelConfig& config : seeds)
    BOOST_TEST(config.splits <= block_count(problem.seq_len, config.tile_n));
}

std::vector<Problem> small_grid() {
  std::vector<Problem> problems;
  for (const int batch : {4, 8, 16, 32, 64})
    for (const int64_t rows : {4096, 16384, 65536}) problems.push_back(problem_of(batch, rows));
  return problems;
}

double worst_excess(const SessionResult& result, const AnalyticSource& device) {
  double worst = 0;
  for (const ShapeResult& shape : result.shapes) {
    double best_us = INFINITY;
    for (const KernelConfig& config : device.list(shape.problem).configs)
      best_us = std::min(best_us, device.true_time_us(shape.problem, config));
    worst = std::max(worst, device.true_time_us(shape.problem, shape.winner.config) / best_us - 1);
  }
  return worst;
}

BOOST_AUTO_TEST_CASE(small_searches_come_within_a_few_percent_of_the_best_with_few_samples) {
  AnalyticSource device{AnalyticOptions{}};
  SessionOptions options;
  options.small_search = true;
  const SessionResult result = tune(device, small_grid(), options);
  BOOST_TEST(worst_excess(result, device) < 0.05);
  BOOST_TEST(result.samples_measured < 700 * static_cast<int64_t>(result.shapes.size()));
  for (const ShapeResult& shape : result.shapes) BOOST_TEST(shape.winner.configs_measured < 90);
}

class Recorded : public AnalyticSource {
 public:
  using AnalyticSource::AnalyticSource;
  std::vector<Problem> recorded_problems() const override { return {seed_problem(8)}; }
};

BOOST_AUTO_TEST_CASE(a_small_search_of_a_recording_stays_with_what_is_recorded) {
  AnalyticOptions recorded;
  recorded.copies = 8;
  Recorded device(recorded);
  SessionOptions options;
  options.small_search = true;
  const SessionResult result = tune(device, {seed_problem(8)}, options);
  BOOST_REQUIRE((result.shapes[0].status == ShapeStatus::kDone));
  BOOST_TEST(result.shapes[0].winner.configs_measured <= 10);  // copies and baselines
}

}  // namespace
}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// Where a small search begins and where it goes on, and what a session finds that way.
#define BOOST_TEST_MODULE seeds
#include "tuner/seeds.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"
#include "tests/support/temporary_directory.h"
#include "tests/tuner/sessions.h"
#include "tuner/seed_book.h"

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

BOOST_AUTO_TEST_CASE(wide_row_groups_of_two_workgroups_get_half_the_splits) {
  DeviceInfo h200;
  BOOST_REQUIRE(known_device("H200", &h200));
  const Space space = make_space(h200);
  Problem problem = problem_of(4, 65536);
  problem.nhead = 128;
  KernelConfig narrow = space.neutral(64);
  narrow.splits = 16;  // two row groups: 128 workgroups
  const KernelConfig standard = policy::DefaultPolicy(space)(problem);
  const auto seeds = seed_configs(space, problem, {{problem, narrow, standard}}, nullptr, 100);
  KernelConfig wide = space.neutral(128);
  wide.splits = 16;
  wide.stage2_tiles = narrow.stage2_tiles;
  wide.stage2_warps = narrow.stage2_warps;
  BOOST_TEST(holds(seeds, wide));
  for (const KernelConfig& config : seeds)
    if (config.group_rows == 128) BOOST_TEST(config.splits <= 32, to_text(config));
}

BOOST_AUTO_TEST_CASE(a_shape_that_is_known_again_leaves_room_for_its_neighbours) {
  SeedBook book(kDevice);
  const auto know = [&](int batch, const std::string& knobs) {
    const KnownWinner known = winner_of(problem_of(batch, 16384), knobs);
    db::WinnerRecord winner;
    winner.problem = known.problem;
    winner.default_config = known.default_config;
    winner.config = winner.finalist = known.config;
    book.add(winner);
  };
  know(32, "tile_n=16 stages=4");
  for (int i = 0; i < 8; ++i) know(16, "tile_n=32 stages=4");
  know(16, "tile_n=32 stages=3");
  const auto seeds = book.seeds_for(problem_of(16, 16384), 1);
  const auto count = [&](int32_t tile_n, int32_t stages) {
    return std::count_if(seeds.begin(), seeds.end(), [&](const KernelConfig& config) {
      return config.tile_n == tile_n && config.stages == stages;
    });
  };
  BOOST_TEST(count(32, 3) > 0);
  BOOST_TEST(count(32, 4) == 0);
  BOOST_TEST(count(16, 4) > 0);
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

// Meanwhile a shape nearby was tuned, so that the seeds are no longer those of the population.
BOOST_AUTO_TEST_CASE(a_small_search_that_is_resumed_keeps_the_candidates_that_it_began_with) {
  AnalyticSource inner{AnalyticOptions{}};
  const Problem problem = problem_of(8, 16384);
  // The best is of the sample for a family that is not known yet, without a neighbour near it.
  const std::vector<KernelConfig> seeds = SeedBook(inner).seeds_for(problem, 1);
  const KernelConfig best = seeds.back();
  const auto favour = [&](FaultySource* source) {
    source->distort = [&](const KernelConfig& config, const SampleId&, double time_us) {
      return config == best ? time_us / 100 : time_us;
    };
  };
  SessionOptions options;
  options.small_search = true;
  FaultySource whole(inner);
  favour(&whole);
  const db::WinnerRecord expected = tune(whole, {problem}, options).shapes.at(0).winner;
  BOOST_TEST((expected.config == best));
  for (int64_t at = 100; at < whole.samples; at += 61) {  // behind the first round of all
    const testing::TemporaryDirectory directory;
    db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
    FaultySource source(inner);
    favour(&source);
    source.stop_at = at;
    run_session(source, &store, {}, {problem}, options, nullptr, source.stop);
    tune(inner, {problem_of(16, 16384)}, options, &store);
    const ShapeResult resumed = tune(source, {problem}, options, &store).shapes.at(0);
    BOOST_TEST((resumed.status == ShapeStatus::kDone));
    BOOST_TEST((resumed.winner.config == expected.config), at);
    BOOST_TEST(resumed.winner.gain == expected.gain);
  }
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

// SPDX-License-Identifier: MIT
// The pure parts of the search: ranking, halving, leg order, and the shared budget.
#define BOOST_TEST_MODULE tuner_search
#include "tuner/search.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "tuner/budget.h"

using namespace mla;
using namespace mla::tuner;

namespace {

KernelConfig config_of(int splits) {
  KernelConfig config;
  config.splits = splits;
  return config;
}

// One round of configurations 1, 2, ... with these times.
db::RoundRecord round_of(const std::vector<double>& times_us) {
  db::RoundRecord round;
  for (const double time_us : times_us) {
    db::SampleRecord sample;
    sample.config = config_of(static_cast<int>(round.samples.size()) + 1);
    sample.time_us = time_us;
    round.samples.push_back(sample);
  }
  return round;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_drift_between_rounds_does_not_change_the_ranking) {
  const auto standings = rank(
      {round_of({100, 90, 95}), round_of({200, 180, 190}), round_of({50, 45, 47.5})}, config_of(1));
  BOOST_TEST(standings.at(0).config.splits == 2);
  BOOST_TEST(standings.at(0).ratio == 0.9);
  BOOST_TEST(standings.at(1).config.splits == 3);
}

BOOST_AUTO_TEST_CASE(one_fast_outlier_of_three_rounds_does_not_lead) {
  const auto standings = rank(
      {round_of({100, 80, 95}), round_of({100, 101, 95}), round_of({100, 101, 95})}, config_of(1));
  BOOST_TEST(standings.at(0).config.splits == 3);
}

BOOST_AUTO_TEST_CASE(a_round_whose_anchor_failed_gives_no_ratio) {
  db::RoundRecord broken = round_of({100, 10});
  broken.samples[0].outcome = OutcomeKind::kFault;
  const auto standings = rank({broken, round_of({100, 110})}, config_of(1));
  for (const Standing& standing : standings) BOOST_TEST(standing.rounds == 1);
  BOOST_TEST(standings.at(0).config.splits == 1);
}

BOOST_AUTO_TEST_CASE(neighbours_differ_in_so_many_knobs) {
  KernelConfig center, one, two, other;
  one.splits = 8;
  two.splits = 8;
  two.stages = 5;
  other.tile_n = 128;
  const std::vector<KernelConfig> configs = {two, one, center, other};
  BOOST_TEST((neighbours(configs, center, 1) == std::vector<KernelConfig>{one, other}));
  BOOST_TEST((neighbours(configs, center, 2) == std::vector<KernelConfig>{two}));
}

BOOST_AUTO_TEST_CASE(a_third_stays_and_never_fewer_than_the_semifinal_holds) {
  BOOST_TEST(keep_count(90) == 30U);
  BOOST_TEST(keep_count(91) == 31U);
  BOOST_TEST(keep_count(10) == kSemifinalists);
  BOOST_TEST(keep_count(4) == 4U);
}

BOOST_AUTO_TEST_CASE(survivors_are_the_fastest_in_their_old_order) {
  std::vector<KernelConfig> live;
  std::vector<double> times_us;
  for (int i = 1; i <= 30; ++i) {
    live.push_back(config_of(i));
    times_us.push_back(200 - i);
  }
  const auto kept = survivors(live, rank({round_of(times_us)}, config_of(1)));
  BOOST_TEST(kept.size() == 10U);
  BOOST_TEST(kept.front().splits == 21);
  BOOST_TEST(kept.back().splits == 30);
}

BOOST_AUTO_TEST_CASE(one_slow_reading_is_not_yet_hopeless) {
  Standing standing;
  standing.rounds = 1;
  standing.fastest = 2;
  BOOST_TEST(!hopeless(standing, 1));
  standing.rounds = 2;
  BOOST_TEST(hopeless(standing, 1));
  standing.fastest = 1.4;
  BOOST_TEST(!hopeless(standing, 1));
}

BOOST_AUTO_TEST_CASE(every_round_runs_every_leg_once_in_another_place) {
  for (const size_t legs : {1, 2, 4, 8, 9, 32, 33, 100}) {
    std::set<size_t> first_legs;
    for (int round = 0; round < kRungRounds; ++round) {
      std::set<size_t> seen;
      for (size_t position = 0; position < legs; ++position)
        seen.insert(leg_at(position, round, legs));
      BOOST_TEST(seen.size() == legs);
      first_legs.insert(leg_at(0, round, legs));
    }
    BOOST_TEST(first_legs.size() == std::min<size_t>(legs, kRungRounds));
  }
}

BOOST_AUTO_TEST_CASE(a_shuffle_is_a_permutation_that_follows_from_its_seed) {
  std::vector<KernelConfig> sorted;
  for (int i = 1; i <= 20; ++i) sorted.push_back(config_of(i));
  auto one = sorted, again = sorted, two = sorted;
  shuffle(&one, 1);
  shuffle(&again, 1);
  shuffle(&two, 2);
  BOOST_TEST((one == again));
  BOOST_TEST((one != two));
  BOOST_TEST(std::is_permutation(one.begin(), one.end(), sorted.begin()));
}

BOOST_AUTO_TEST_CASE(the_budget_gives_larger_shapes_more_and_the_last_one_the_rest) {
  const Problem small = parse_problem("batch=1 nhead=12 seq_len=4096");
  const Problem large = parse_problem("batch=8 nhead=12 seq_len=68000");
  const Budget budget(1000, {small, large});
  const auto now = Clock::now();
  const auto share_s = [&](size_t i) {
    return std::chrono::duration<double>(budget.deadline(i) - now).count();
  };
  BOOST_TEST(share_s(0) > 200);  // a quarter at least: half of the budget is shared evenly
  BOOST_TEST(share_s(0) < 300);
  BOOST_TEST(share_s(1) > 900);
  BOOST_TEST(share_s(1) < 990);  // the program's own start and end fit in as well
  BOOST_TEST(budget.work_after(1) == 0);
  BOOST_TEST((Budget(0, {small}).deadline(0) == Clock::time_point::max()));
}

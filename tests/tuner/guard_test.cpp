// SPDX-License-Identifier: MIT
// Guard point 1: by hand-made rounds, by simulation, and on recorded rounds.
#define BOOST_TEST_MODULE tuner_guard
#include "tuner/guard.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>

#include "kernels/error.h"
#include "tuner/csv.h"

using namespace mla;
using namespace mla::tuner;

namespace {

PairedRound with_gain(double gain) {
  return {100 * (1 + gain), 100};
}

// `wins` rounds of +2 %, `losses` of -2 %, ties for the rest.
std::vector<PairedRound> rounds_of(int wins, int losses, int count) {
  std::vector<PairedRound> rounds;
  for (int i = 0; i < count; ++i)
    rounds.push_back(with_gain(i < wins ? 0.02 : i < wins + losses ? -0.02 : 0));
  return rounds;
}

// Rounds are taken from a generator until the guard has decided.
template <typename NextGain>
GuardDecision play(NextGain next_gain) {
  std::vector<PairedRound> rounds;
  for (;;) {
    rounds.push_back(with_gain(next_gain()));
    const GuardDecision decision = decide(rounds);
    if (decision.state != GuardState::kNeedMoreRounds) return decision;
  }
}

// gain in percent of each recorded round, by leg.
std::map<std::string, std::vector<double>> recorded_gains() {
  std::ifstream file(MLA_TEST_ASSETS "/seed_rounds.csv");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const CsvFile csv = parse_csv(text, "seed_rounds.csv");
  std::map<std::string, std::vector<double>> gains;
  for (const CsvRow& row : csv.rows)
    for (size_t i = 3; i < 8; ++i) gains[row.cells[0]].push_back(std::stod(row.cells[i]) / 100);
  return gains;
}

// Counts of each state when recorded rounds are drawn with replacement.
std::map<GuardState, int> resample(const std::vector<double>& gains, double sign) {
  std::map<GuardState, int> states;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const GuardDecision decision = play([&] { return sign * gains[random() % gains.size()]; });
    BOOST_TEST_REQUIRE((decision.rounds >= 15 && decision.rounds <= 60));
    ++states[decision.state];
  }
  return states;
}

}  // namespace

BOOST_AUTO_TEST_CASE(thirteen_wins_of_fifteen_are_accepted_and_twelve_are_not) {
  BOOST_TEST((decide(rounds_of(13, 0, 15)).state == GuardState::kAccepted));
  BOOST_TEST((decide(rounds_of(12, 0, 15)).state == GuardState::kNeedMoreRounds));
  BOOST_TEST((decide(rounds_of(14, 0, 14)).state == GuardState::kNeedMoreRounds));
}

BOOST_AUTO_TEST_CASE(later_looks_need_23_of_30_and_41_of_60) {
  // Wins of the first 15 rounds, of the next 15, and of the 30 after them.
  const auto late = [](const std::vector<int>& wins) {
    std::vector<PairedRound> rounds;
    for (const int won : wins) {
      const auto more = rounds_of(won, 0, rounds.size() < 30 ? 15 : 30);
      rounds.insert(rounds.end(), more.begin(), more.end());
    }
    return decide(rounds).state;
  };
  BOOST_TEST((late({10, 13}) == GuardState::kAccepted));
  BOOST_TEST((late({10, 12}) == GuardState::kNeedMoreRounds));
  BOOST_TEST((late({10, 12, 19}) == GuardState::kAccepted));
  BOOST_TEST((late({10, 12, 18}) == GuardState::kUndecided));
}

BOOST_AUTO_TEST_CASE(losses_by_the_margin_end_slower_by_the_same_counts) {
  const GuardDecision decision = decide(rounds_of(0, 13, 15));
  BOOST_TEST((decision.state == GuardState::kSlower));
  BOOST_TEST(decision.losses == 13);
  BOOST_TEST(decision.p_value < 0.01);
}

BOOST_AUTO_TEST_CASE(a_gain_within_the_margin_is_neither_a_win_nor_a_loss) {
  const std::vector<PairedRound> rounds(15, with_gain(0.0049));
  const GuardDecision decision = decide(rounds);
  BOOST_TEST(decision.wins == 0);
  BOOST_TEST(decision.losses == 0);
  BOOST_TEST(decision.gain == 0.0049, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(it_stops_where_no_later_look_can_decide) {
  BOOST_TEST((decide(rounds_of(8, 8, 30)).state == GuardState::kUndecided));
  BOOST_TEST((decide(rounds_of(11, 0, 30)).state == GuardState::kNeedMoreRounds));
}

BOOST_AUTO_TEST_CASE(rounds_after_the_deciding_look_do_not_count) {
  std::vector<PairedRound> rounds = rounds_of(15, 0, 15);
  const auto worse = rounds_of(0, 45, 45);
  rounds.insert(rounds.end(), worse.begin(), worse.end());
  const GuardDecision decision = decide(rounds);
  BOOST_TEST((decision.state == GuardState::kAccepted));
  BOOST_TEST(decision.rounds == 15);
  BOOST_TEST(decision.gain == 0.02, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_time_that_is_no_time_is_refused) {
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<PairedRound> rounds = rounds_of(15, 0, 15);
    rounds[7].finalist_us = bad;
    BOOST_CHECK_THROW(decide(rounds), Error);
  }
}

BOOST_AUTO_TEST_CASE(at_most_130_of_10000_finals_accept_a_true_gain_equal_to_the_margin) {
  std::mt19937_64 random(20);
  std::normal_distribution<double> noise(kGuardMargin, 0.01);
  int accepted = 0;
  for (int final = 0; final < 10000; ++final)
    accepted += play([&] { return noise(random); }).state == GuardState::kAccepted;
  BOOST_TEST(accepted <= 130);
  BOOST_TEST(accepted > 0);  // else the guard would refuse whatever it sees
}

BOOST_AUTO_TEST_CASE(the_recorded_partial_wait_ends_slower_and_with_its_signs_flipped_accepted) {
  const std::vector<double> gains = recorded_gains().at("partial_wait");
  BOOST_TEST(resample(gains, 1)[GuardState::kSlower] == 200);
  BOOST_TEST(resample(gains, -1)[GuardState::kAccepted] == 200);
}

BOOST_AUTO_TEST_CASE(the_recorded_mixed_leg_ends_undecided) {
  const std::vector<double> gains = recorded_gains().at("partial_wait+split_major");
  BOOST_TEST(resample(gains, 1)[GuardState::kUndecided] == 200);
}

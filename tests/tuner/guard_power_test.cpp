// SPDX-License-Identifier: MIT
// The power table of tools/doc/method.md, computed anew from the guard's looks.
#define BOOST_TEST_MODULE tuner_guard_power
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "tuner/guard.h"

using namespace mla::tuner;

namespace {

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2));
}

// Probability that a finalist of this true gain is accepted, where the gain of one round is normal
// with this spread. Exact: over all counts of wins and losses.
double acceptance(double gain, double spread) {
  const double win = 1 - normal_cdf((kGuardMargin - gain) / spread);
  const double loss = normal_cdf((-kGuardMargin - gain) / spread);
  std::map<std::pair<int, int>, double> mass = {{{0, 0}, 1.0}};  // by (wins, losses)
  double accepted = 0;
  int rounds = 0;
  for (const Look& look : kLooks) {
    for (; rounds < look.rounds; ++rounds) {
      std::map<std::pair<int, int>, double> next;
      for (const auto& [counts, p] : mass) {
        next[{counts.first + 1, counts.second}] += p * win;
        next[{counts.first, counts.second + 1}] += p * loss;
        next[counts] += p * (1 - win - loss);
      }
      mass = std::move(next);
    }
    for (const auto& [counts, p] : mass) {
      if (counts.first >= look.needed) accepted += p;
    }
    std::erase_if(mass, [&](const auto& entry) {
      return entry.first.first >= look.needed || entry.first.second >= look.needed;
    });
  }
  return accepted;
}

// The numbers of a table row "| 0.75 | 99.9 | 63.9 |"; empty for any other line.
std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> numbers;
  for (size_t at = line.find('|'); at != std::string::npos; at = line.find('|', at + 1)) {
    char* end = nullptr;
    const double number = std::strtod(line.c_str() + at + 1, &end);
    if (end != line.c_str() + at + 1) numbers.push_back(number);
  }
  return numbers;
}

// The table between its two marks; its first row holds the spreads in percent.
std::vector<std::vector<double>> printed_table() {
  std::ifstream file(MLA_SOURCE_DIR "/tools/doc/method.md");
  std::vector<std::vector<double>> table;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("<!-- power table")) inside = true;
    if (line.starts_with("<!-- end")) inside = false;
    if (inside && line.find_first_of("0123456789") != std::string::npos) {
      table.push_back(numbers_of(line));
    }
  }
  return table;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_power_table_of_the_method_page_is_what_the_guard_does) {
  const auto table = printed_table();
  BOOST_REQUIRE(table.size() >= 8U);
  const std::vector<double>& spreads = table.front();
  BOOST_REQUIRE(spreads.size() >= 5U);
  for (size_t r = 1; r < table.size(); ++r) {
    BOOST_REQUIRE(table[r].size() == spreads.size() + 1);
    for (size_t c = 0; c < spreads.size(); ++c) {
      const double exact = 100 * acceptance(table[r][0] / 100, spreads[c] / 100);
      BOOST_TEST(std::abs(exact - table[r][c + 1]) <= 0.05001,
                 "gain " << table[r][0] << ", spread " << spreads[c] << ": " << exact);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_exact_power_agrees_with_rounds_played_through_the_guard) {
  constexpr int kFinals = 2000;
  std::mt19937_64 random(7);
  std::normal_distribution<double> gain(0.01, 0.01);
  int accepted = 0;
  for (int i = 0; i < kFinals; ++i) {
    std::vector<PairedRound> rounds;
    GuardDecision decision;
    do {
      rounds.push_back({100 * (1 + gain(random)), 100});
      decision = decide(rounds);
    } while (decision.state == GuardState::kNeedMoreRounds);
    accepted += decision.state == GuardState::kAccepted;
  }
  // Four standard deviations of a binomial of 2,000 are less than 4.5 per cent.
  BOOST_TEST(std::abs(accepted / double{kFinals} - acceptance(0.01, 0.01)) < 0.045);
}

// SPDX-License-Identifier: MIT
// Plans for unknown lengths: which configuration is chosen, and what a session stores of it.
#define BOOST_TEST_MODULE tuner_robust
#include "tuner/robust.h"

#include <boost/test/unit_test.hpp>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"
#include "policy/lookup.h"
#include "tests/support/temporary_directory.h"
#include "tests/tuner/sessions.h"

using namespace mla;
using namespace mla::tuner;

namespace {

struct Fixture {
  KernelConfig config(int splits) const {
    return parse_config("splits=" + std::to_string(splits), base);
  }
  // A shape whose winner has so many splits (0: the default is kept).
  RobustPoint at(int64_t seq_len, int winner = 0, double gain = 0) const {
    RobustPoint at;
    at.point.problem = seed_problem(8);
    at.point.problem.seq_len = seq_len;
    at.point.default_config = base;
    at.point.wins = winner > 0;
    at.point.gain = gain;
    at.point.config = winner > 0 ? config(winner) : base;
    return at;
  }
  void lose(RobustPoint* at, int splits, double loss, int32_t rounds = kCrossRounds) const {
    db::LossRecord record;
    record.config = config(splits);
    record.loss = loss;
    record.rounds = rounds;
    at->losses.push_back(record);
  }
  std::optional<RobustChoice> choose(const std::vector<RobustPoint>& group,
                                     double first_share = 1) const {
    std::vector<LengthShare> lengths;
    for (const RobustPoint& at : group) lengths.push_back({at.point.problem.seq_len, 1});
    lengths.front().share = first_share;
    return choose_robust(group, lengths, source.space());
  }

  AnalyticSource source{AnalyticOptions{}};
  KernelConfig base = policy::DefaultPolicy(source.space())(seed_problem(8));
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_least_worst_case_regret_is_chosen, Fixture) {
  std::vector<RobustPoint> group = {at(1024, 4, 0.10), at(8192, 16, 0.10)};
  lose(&group[0], 16, -0.05);
  lose(&group[1], 4, 0.001);
  const std::optional<RobustChoice> choice = choose(group);
  BOOST_TEST_REQUIRE(choice.has_value());
  BOOST_TEST((choice->config == config(16)));
  BOOST_CHECK_CLOSE(choice->worst_regret, 0.95 * 1.10 - 1, 1e-6);
  BOOST_CHECK_CLOSE(choice->worst_gain, 1 / 0.95 - 1, 1e-6);
  BOOST_CHECK_CLOSE(choice->best_gain, 0.10, 1e-6);
}

BOOST_FIXTURE_TEST_CASE(a_winner_slower_than_the_default_at_one_length_is_not_chosen, Fixture) {
  std::vector<RobustPoint> group = {at(1024, 4, 0.30), at(8192)};
  lose(&group[1], 4, 0.006);
  BOOST_TEST((choose(group)->config == base));
  BOOST_CHECK_CLOSE(choose(group)->worst_regret, 0.30, 1e-6);
  group[1].losses.clear();
  lose(&group[1], 4, 0.004);
  BOOST_TEST((choose(group)->config == config(4)));
}

BOOST_FIXTURE_TEST_CASE(equal_worst_cases_are_decided_by_the_weighted_mean, Fixture) {
  std::vector<RobustPoint> group = {at(1024, 4, 0.10), at(8192, 16, 0.10)};
  lose(&group[0], 16, 0.0);
  lose(&group[1], 4, 0.0);
  BOOST_TEST((choose(group, 3)->config == config(4)));
  BOOST_TEST((choose(group, 0.3)->config == config(16)));
}

BOOST_FIXTURE_TEST_CASE(without_every_measurement_there_is_no_plan, Fixture) {
  std::vector<RobustPoint> group = {at(1024, 4, 0.10), at(8192)};
  BOOST_TEST(!choose(group).has_value());
  lose(&group[1], 4, 0, 0);  // tried and failed
  BOOST_TEST((choose(group)->config == base));
}

// Where the default goes by the length, a graph that is captured without one does not get it.
BOOST_AUTO_TEST_CASE(a_plan_is_held_against_the_default_that_is_answered_without_a_length) {
  DeviceInfo device;
  BOOST_REQUIRE(known_device("H200", &device));
  const Space space = make_space(device);
  const policy::DefaultPolicy default_policy(space);
  const auto at = [&](int64_t seq_len) {
    RobustPoint at;
    at.point.problem = seed_problem(1);
    at.point.problem.seq_len = seq_len;
    at.point.default_config = at.point.config = default_policy(at.point.problem);
    return at;
  };
  std::vector<RobustPoint> group = {at(512), at(131072)};
  Problem unknown = seed_problem(1);
  unknown.seq_len = 0;
  const KernelConfig usual = default_policy(unknown);
  BOOST_REQUIRE((usual != group[0].point.default_config));
  const std::vector<LengthShare> lengths = {{512, 1}, {131072, 1}};
  BOOST_TEST(!choose_robust(group, lengths, space));  // what it takes at 512 is not known
  const auto lose = [](RobustPoint* at, const KernelConfig& config, double loss) {
    db::LossRecord& record = at->losses.emplace_back();
    record.config = config;
    record.loss = loss;
    record.rounds = kCrossRounds;
  };
  group[1].point.wins = true;
  group[1].point.gain = 0.1;
  group[1].point.config.splits = 105;
  lose(&group[0], usual, 0.2);
  lose(&group[1], usual, 0);
  lose(&group[0], group[1].point.default_config, 0.25);
  lose(&group[0], group[1].point.config, 0.1);
  const std::optional<RobustChoice> choice = choose_robust(group, lengths, space);
  BOOST_TEST_REQUIRE(choice.has_value());
  BOOST_TEST((choice->default_config == usual));
  BOOST_TEST((choice->config == group[1].point.config));  // slower than the default of 512 alone
  BOOST_CHECK_CLOSE(choice->worst_regret, 0.1, 1e-6);
  BOOST_CHECK_CLOSE(choice->worst_gain, 1.2 / 1.1 - 1, 1e-6);
}

BOOST_FIXTURE_TEST_CASE(only_batches_with_every_length_make_a_group, Fixture) {
  std::vector<CrossPoint> points = {at(8192).point, at(1024).point, at(1024).point};
  points[2].problem.batch = 16;
  const std::vector<LengthGroup> groups = length_groups(points, {{1024, 1}, {8192, 1}});
  BOOST_TEST_REQUIRE(groups.size() == 1u);
  BOOST_TEST((groups[0] == LengthGroup{1, 0}));
  points[0].usable = false;
  BOOST_TEST(length_groups(points, {{1024, 1}, {8192, 1}}).empty());
  BOOST_TEST(length_groups(points, {}).empty());
}

BOOST_AUTO_TEST_CASE(the_lengths_of_a_plan_are_read_back_from_its_protocol) {
  const std::vector<LengthShare> lengths = {{1024, 1}, {8192, 0.25}};
  const std::vector<LengthShare> read = plan_lengths("halving-1 seed=1" + plan_protocol(lengths));
  BOOST_TEST_REQUIRE(read.size() == 2u);
  BOOST_TEST(read[1].seq_len == 8192);
  BOOST_TEST(read[1].share == 0.25);
  BOOST_TEST(plan_lengths("halving-1 final_rounds=60").empty());
  BOOST_TEST(plan_lengths("halving-1 lengths={12:1 x:2}").empty());
}

BOOST_AUTO_TEST_CASE(a_session_stores_a_plan_that_a_lookup_without_a_length_answers) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.file("tuning.db");
  AnalyticOptions device;
  device.noise = 0.001;
  AnalyticSource source(device);
  std::vector<Problem> problems;
  SessionOptions options;
  options.max_configs = 200;
  for (const int64_t seq_len : {8192, 32768, 68000}) {
    problems.push_back(seed_problem(24));
    problems.back().seq_len = seq_len;
    options.lengths.push_back({seq_len, 1});
  }
  db::Store store = db::Store::open(path, db::OpenMode::kReadWrite);
  const SessionResult result = tune(source, problems, options, &store);
  BOOST_TEST_REQUIRE(result.robust.size() == 1u);
  const KernelConfig& plan = result.robust[0].winner.config;
  for (const Problem& problem : problems) {
    const double default_us =
        source.true_time_us(problem, policy::DefaultPolicy(source.space())(problem));
    BOOST_TEST(source.true_time_us(problem, plan) <= 1.01 * default_us);
  }
  Problem unknown = seed_problem(24);
  unknown.seq_len = 0;
  const policy::LookupTable table({path}, source.space());
  BOOST_TEST(table.warnings().empty());
  BOOST_TEST(name(table.find(unknown).source) == "robust");
  BOOST_TEST((table.find(unknown).config == plan));
  for (const db::Store::CheckRow& row : store.check()) BOOST_TEST(row.ok, row.detail);
  // The same run again finds everything and adds nothing.
  const int64_t winners = store.info().winners;
  BOOST_TEST(tune(source, problems, options, &store).samples_measured == 0);
  BOOST_TEST(store.info().winners == winners);
}

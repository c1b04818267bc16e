// SPDX-License-Identifier: MIT
// Which shapes a grid lacks, and in which order shapes are tuned.
#define BOOST_TEST_MODULE grid_points
#include "tuner/grid_points.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "policy/default_policy.h"
#include "tests/tuner/sessions.h"
#include "tuner/budget.h"

namespace mla::tuner {
namespace {

// As many compute units as an H200, in one chiplet.
AnalyticSource device_of(int32_t compute_units) {
  AnalyticOptions options;
  options.compute_units = compute_units;
  options.xcds = 1;
  return AnalyticSource(options);
}

Problem problem_of(int batch, int64_t seq_len) {
  Problem problem;
  problem.batch = batch;
  problem.seq_len = seq_len;
  return problem;
}

std::set<int32_t> batches(const std::vector<Problem>& problems) {
  std::set<int32_t> result;
  for (const Problem& problem : problems) result.insert(problem.batch);
  return result;
}

BOOST_AUTO_TEST_CASE(a_shape_that_leaves_compute_units_idle_comes_before_one_that_fills_them) {
  const AnalyticSource device = device_of(132);
  const std::vector<Problem> order =
      riskiest_first(device.space(), {problem_of(128, 16384), problem_of(72, 16384)});
  BOOST_TEST(order.front().batch == 72);
  BOOST_TEST(wave_risk(device.space(), problem_of(132, 16384)) == 0);
  BOOST_TEST(wave_risk(device.space(), problem_of(133, 16384)) > 0.49);
}

// At 132 compute units the default goes from four splits to three behind batch 33, to two behind 44
// and to one behind 66.
BOOST_AUTO_TEST_CASE(both_sides_of_a_step_of_the_default_are_added) {
  const AnalyticSource device = device_of(132);
  const std::vector<Problem> added = wave_edge_points(
      device.space(), {problem_of(32, 16384), problem_of(64, 16384), problem_of(128, 16384)});
  BOOST_TEST(batches(added) == (std::set<int32_t>{33, 34, 44, 45, 66, 67}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_grid_without_a_step_between_its_batches_gets_no_point) {
  const AnalyticSource device = device_of(132);
  BOOST_TEST(
      wave_edge_points(device.space(), {problem_of(34, 16384), problem_of(43, 16384)}).empty());
}

CrossPoint point(const AnalyticSource& device, int batch, int64_t seq_len, int32_t splits) {
  CrossPoint result;
  result.problem = problem_of(batch, seq_len);
  result.default_config = policy::DefaultPolicy(device.space())(result.problem);
  result.config = result.default_config;
  result.config.splits = splits;
  result.wins = true;
  result.gain = 0.05;
  return result;
}

db::LossRecord loss_of(const KernelConfig& config, double loss) {
  db::LossRecord record;
  record.config = config;
  record.rounds = 15;
  record.loss = loss;
  return record;
}

BOOST_AUTO_TEST_CASE(a_point_between_winners_that_lose_to_each_other_is_wanted_once) {
  const AnalyticSource device = device_of(132);
  const std::vector<CrossPoint> points = {point(device, 8, 16384, 33), point(device, 16, 16384, 5)};
  const std::vector<std::vector<db::LossRecord>> losses = {{loss_of(points[1].config, 0.02)},
                                                           {loss_of(points[0].config, 0.03)}};
  const auto at = [&](size_t i) -> const std::vector<db::LossRecord>& { return losses[i]; };
  const std::vector<Problem> wanted = disagreement_points(device.space(), points, at);
  BOOST_REQUIRE(wanted.size() == 1u);
  BOOST_TEST(to_text(wanted[0]) == to_text(problem_of(11, 16384)));
}

BOOST_AUTO_TEST_CASE(a_winner_that_holds_at_its_neighbour_needs_no_point_between) {
  const AnalyticSource device = device_of(132);
  const std::vector<CrossPoint> points = {point(device, 8, 16384, 33), point(device, 16, 16384, 5)};
  const std::vector<std::vector<db::LossRecord>> losses = {{loss_of(points[1].config, 0.02)},
                                                           {loss_of(points[0].config, -0.03)}};
  const auto at = [&](size_t i) -> const std::vector<db::LossRecord>& { return losses[i]; };
  BOOST_TEST(disagreement_points(device.space(), points, at).empty());
}

BOOST_AUTO_TEST_CASE(a_session_that_refines_tunes_what_it_added_and_says_what_is_left) {
  const std::vector<Problem> problems = {problem_of(8, 16384), problem_of(32, 16384)};
  AnalyticSource inner{AnalyticOptions{}};
  FaultySource device(inner);
  SessionOptions options;
  options.only = make_disagree(&device);
  const SessionResult plain = tune(device, problems, options);
  BOOST_TEST(plain.refine.tuned + plain.refine.left == 0);
  const int64_t plain_samples = device.samples;
  options.refine = true;
  const SessionResult refined = tune(device, problems, options);
  BOOST_TEST(refined.refine.tuned == 1);
  BOOST_TEST(refined.refine.left == 0);
  BOOST_REQUIRE(refined.shapes.size() == 3u);
  BOOST_TEST(to_text(refined.shapes[2].problem) == to_text(problem_of(16, 16384)));

  device.samples = 0;
  device.stop_at = plain_samples + 1;  // the first of the added shape
  const SessionResult stopped =
      run_session(device, nullptr, {}, problems, options, nullptr, device.stop);
  BOOST_TEST(stopped.refine.tuned == 0);
  BOOST_TEST(stopped.refine.left == 1);
  BOOST_TEST(stopped.shapes.size() == 2u);
}

class WithoutBatch16 : public FaultySource {
 public:
  using FaultySource::FaultySource;
  Outcome select(const Problem& problem, uint64_t seed) override {
    if (problem.batch != 16) return FaultySource::select(problem, seed);
    ++refused;
    return {OutcomeKind::kLaunchFailed, "injected"};
  }
  int refused = 0;
};

BOOST_AUTO_TEST_CASE(an_added_shape_without_an_answer_is_not_tuned_again_in_the_next_pass) {
  AnalyticSource inner{AnalyticOptions{}};
  WithoutBatch16 device(inner);
  SessionOptions options;
  options.only = make_disagree(&device);
  options.refine = true;
  const SessionResult result = tune(device, {problem_of(8, 16384), problem_of(32, 16384)}, options);
  BOOST_TEST(device.refused == 1);
  BOOST_TEST(result.refine.tuned == 0);
  BOOST_TEST(result.refine.left == 1);
}

BOOST_AUTO_TEST_CASE(shapes_that_are_added_leave_time_for_the_crossing_behind_them) {
  for (const bool in_order : {false, true}) {
    Budget budget(1000, {problem_of(8, 16384)}, 0.4, in_order);
    budget.add({problem_of(16, 16384)});
    BOOST_TEST((budget.deadline(1) < budget.end()));
  }
}

}  // namespace
}  // namespace mla::tuner

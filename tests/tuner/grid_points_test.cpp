// SPDX-License-Identifier: MIT
// Which shapes a grid lacks, and in which order shapes are tuned.
#define BOOST_TEST_MODULE grid_points
#include "tuner/grid_points.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "policy/default_policy.h"
#include "tests/tuner/sessions.h"

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
  AnalyticSource device = device_of(132);
  std::vector<Problem> problems;
  for (const int batch : {8, 32})
    for (const int64_t rows : {2048, 16384}) problems.push_back(problem_of(batch, rows));
  SessionOptions options;
  options.small_search = true;
  const SessionResult plain = tune(device, problems, options);
  BOOST_TEST(plain.refine.tuned + plain.refine.left == 0);
  options.refine = true;
  const SessionResult refined = tune(device, problems, options);
  BOOST_TEST(refined.shapes.size() == problems.size() + static_cast<size_t>(refined.refine.tuned));
  std::set<std::string> distinct;
  for (const ShapeResult& shape : refined.shapes) distinct.insert(to_text(shape.problem));
  BOOST_TEST(distinct.size() == refined.shapes.size());
}

}  // namespace
}  // namespace mla::tuner

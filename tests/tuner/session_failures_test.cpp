// SPDX-License-Identifier: MIT
// Sessions whose candidates, default or readings fail: the others are tuned all the same.
#define BOOST_TEST_MODULE tuner_session_failures
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "policy/default_policy.h"
#include "tests/tuner/sessions.h"
#include "tuner/replay_source.h"

using namespace mla;
using namespace mla::tuner;

BOOST_AUTO_TEST_CASE(a_shape_without_any_baseline_fails_with_the_reason) {
  AnalyticSource inner(AnalyticOptions{});
  FaultySource source(inner);
  const Problem problem = seed_problem(8);
  source.in_admission = {
      {policy::DefaultPolicy(inner.space())(problem), OutcomeKind::kLaunchFailed},
      {policy::drained_baseline(inner.space(), problem), OutcomeKind::kOverLimits}};
  const ShapeResult shape = tune(source, {problem}).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kFailed));
  BOOST_TEST((shape.winner.verdict == db::Verdict::kFailed));
  for (const char* part : {"launch_failed", "over_limits"})
    BOOST_TEST(shape.text.find(part) != std::string::npos, shape.text);
}

BOOST_AUTO_TEST_CASE(a_shape_that_was_not_recorded_fails_by_that_name_and_the_next_is_tuned) {
  const auto source = open_replay_source(MLA_TEST_ASSETS "/seed_levers.csv");
  const SessionResult result = tune(*source, {seed_problem(3), seed_problem(16)});
  BOOST_TEST((result.shapes.at(0).status == ShapeStatus::kFailed));
  BOOST_TEST(result.shapes.at(0).text ==
             "not_recorded: no recorded time of batch=3 nhead=12 seq_len=68000");
  BOOST_TEST((result.shapes.at(1).status == ShapeStatus::kDone));
}

BOOST_AUTO_TEST_CASE(failing_candidates_become_outcomes_and_the_others_are_tuned) {
  AnalyticSource inner = small_device();
  FaultySource source(inner);
  const auto configs = inner.list(seed_problem(8)).configs;
  const KernelConfig best = *inner.faster_copy(seed_problem(8));
  std::vector<KernelConfig> victims;
  for (const KernelConfig& config : configs)
    if (config != best) victims.push_back(config);
  source.in_admission = {{victims[0], OutcomeKind::kWrong}, {victims[1], OutcomeKind::kHang}};
  source.in_sample = {{victims[2], OutcomeKind::kFault}};
  const std::map<KernelConfig, double> no_times = {
      {victims[3], NAN}, {victims[4], 0.0}, {victims[5], -5.0}};
  source.distort = [&](const KernelConfig& config, const SampleId&, double time_us) {
    const auto found = no_times.find(config);
    return found == no_times.end() ? time_us : found->second;
  };
  const ShapeResult shape = tune(source, {seed_problem(8)}).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kDone));
  BOOST_TEST((shape.winner.config == best));
  BOOST_TEST(shape.winner.configs_failed == 6);
  BOOST_TEST(source.admissions[victims[0]] == 1);
  BOOST_TEST(source.admissions[victims[1]] == 2);  // the second crash quarantines
}

BOOST_AUTO_TEST_CASE(a_default_that_fails_in_a_sample_gives_way_to_the_drained_baseline) {
  AnalyticSource inner(AnalyticOptions{});
  FaultySource source(inner);
  const Problem problem = seed_problem(8);
  const KernelConfig standard = policy::DefaultPolicy(inner.space())(problem);
  source.in_sample = {{standard, OutcomeKind::kLaunchFailed}};
  SessionOptions options;
  options.max_configs = 12;
  const ShapeResult shape = tune(source, {problem}, options).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kDone));
  BOOST_TEST(shape.winner.reference == "drained");
}

// In one round of the semifinal the default was interrupted, and the best candidate as well: it
// is dropped there, with a ratio that no later round comes near.
BOOST_AUTO_TEST_CASE(a_candidate_dropped_in_the_semifinal_does_not_lead_into_the_final) {
  AnalyticSource inner = small_device();
  FaultySource source(inner);
  const Problem problem = seed_problem(8);
  const KernelConfig standard = policy::DefaultPolicy(inner.space())(problem);
  const KernelConfig dropped = *inner.faster_copy(problem);
  source.distort = [&](const KernelConfig& config, const SampleId& id, double time_us) {
    if (id.phase != db::Phase::kSemifinal || id.round != 0) return time_us;
    return config == standard ? 10 * time_us : config == dropped ? 4 * time_us : time_us;
  };
  const ShapeResult shape = tune(source, {problem}).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kDone), shape.text);
  BOOST_TEST((shape.winner.finalist != dropped));
}

// SPDX-License-Identifier: MIT
// Winners measured at the shapes around theirs: what is planned, what is judged, and what a session
// leaves in the database for a lookup between the shapes.
#define BOOST_TEST_MODULE tuner_crossing
#include "tuner/crossing.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "policy/default_policy.h"
#include "policy/lookup.h"
#include "tests/support/temporary_directory.h"
#include "tests/tuner/sessions.h"

using namespace mla;
using namespace mla::tuner;

namespace {

constexpr auto kNothingKnown = [](size_t, const KernelConfig&) { return false; };

struct Fixture {
  CrossPoint point(int batch, int64_t seq_len, const std::string& winner = "") const {
    CrossPoint point;
    point.problem = seed_problem(batch);
    point.problem.seq_len = seq_len;
    point.default_config = policy::DefaultPolicy(source.space())(point.problem);
    point.wins = !winner.empty();
    point.config = parse_config(winner, point.default_config);
    return point;
  }
  std::vector<CrossTask> plan(const std::vector<CrossPoint>& points) const {
    return plan_crossing(points, {}, source.space(), kNothingKnown);
  }

  AnalyticSource source{AnalyticOptions{}};
};

// A device where one configuration beats the default by 4 % at small batches and loses by 3 % at
// large ones.
struct TwoSided {
  TwoSided() : inner(options()), source(inner) {
    const KernelConfig base = inner.space().neutral();
    tuned = parse_config("splits=2 tile_n=32", base);
    source.distort = [this](const KernelConfig& config, const SampleId& id, double) {
      double noise = 1 + 1e-4 * (id.round % 3);
      if (source.selected.batch == noisy_batch) noise += 0.02 * ((id.round + id.position) % 2);
      if (config.tile_n != tuned.tile_n) return 100 * noise;
      if (source.selected.batch == noisy_batch) return 100.3 * noise;
      return (source.selected.batch <= 24 ? 96 : 103) * noise;
    };
  }
  static AnalyticOptions options() {
    AnalyticOptions options;
    options.noise = 0;
    return options;
  }
  SessionResult run(const std::vector<int>& batches, db::Store* store) {
    std::vector<Problem> problems;
    for (const int batch : batches) problems.push_back(seed_problem(batch));
    SessionOptions session;
    session.only = {tuned};
    return tune(source, problems, session, store);
  }

  AnalyticSource inner;
  FaultySource source;
  KernelConfig tuned;
  int noisy_batch = 0;  // where every other sample takes 2 % longer, and neither is better
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_winner_of_every_corner_is_planned_at_every_other_one, Fixture) {
  const std::vector<CrossPoint> points = {
      point(16, 4096, "splits=8"), point(24, 4096), point(16, 16384), point(24, 16384, "splits=4")};
  const std::vector<CrossTask> tasks = plan(points);
  BOOST_TEST_REQUIRE(tasks.size() == 4u);
  // Splits of their own arrive at the other batch in two forms.
  const std::vector<size_t> configs = {2, 3, 3, 2};
  for (size_t i = 0; i < tasks.size(); ++i) {
    BOOST_TEST(tasks[i].point == i);
    BOOST_TEST(tasks[i].configs.size() == configs[i]);
  }
  BOOST_TEST((tasks[0].configs[0] == points[3].config));
}

BOOST_FIXTURE_TEST_CASE(levers_on_the_default_are_planned_on_the_default_of_the_neighbour,
                        Fixture) {
  const std::vector<CrossTask> tasks = plan({point(16, 4096, "wait=partial"), point(24, 4096)});
  BOOST_TEST_REQUIRE(tasks.size() == 1u);
  const KernelConfig there = parse_config("wait=partial", point(24, 4096).default_config);
  BOOST_TEST((tasks[0].configs == std::vector<KernelConfig>{there}));
}

BOOST_FIXTURE_TEST_CASE(nothing_is_planned_that_is_known_illegal_elsewhere_or_the_default,
                        Fixture) {
  const CrossPoint kept = point(16, 4096), tuned = point(24, 4096, "splits=4");
  BOOST_TEST(plan({kept, tuned}).size() == 1u);
  const auto all_known = [](size_t, const KernelConfig&) { return true; };
  BOOST_TEST(plan_crossing({kept, tuned}, {}, source.space(), all_known).empty());
  // Split-major order needs more than one request.
  BOOST_TEST(plan({point(1, 4096), point(3, 4096, "splits=8 order=split_major")}).empty());
  CrossPoint same_as_default = tuned;
  same_as_default.config = kept.default_config;
  const std::vector<CrossTask> as_many_workgroups = plan({kept, same_as_default});
  BOOST_TEST_REQUIRE(as_many_workgroups.size() == 1u);
  KernelConfig expected = kept.default_config;
  expected.splits = 16 * 24 / 16;
  BOOST_TEST((as_many_workgroups[0].configs == std::vector<KernelConfig>{expected}));
  CrossPoint failed = kept;
  failed.usable = false;
  BOOST_TEST(plan({failed, tuned}).empty());
  CrossPoint stored = kept, also_stored = tuned;
  stored.here = also_stored.here = false;
  BOOST_TEST(plan({stored, also_stored}).empty());
  BOOST_TEST(plan({stored, tuned}).size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_loss_is_the_median_of_ratios_within_their_rounds, Fixture) {
  const CrossPoint at = point(16, 4096);
  const KernelConfig config = parse_config("splits=4", at.default_config);
  std::vector<db::RoundRecord> rounds;
  for (int i = 0; i < kCrossRounds; ++i) {
    const double drift = 1 + 0.1 * i;
    rounds.push_back({db::Phase::kCross,
                      0,
                      i,
                      0,
                      {{at.default_config, 0, kDefaultRole, 100 * drift, OutcomeKind::kOk},
                       {at.default_config, 1, kPlaceboRole, 100.2 * drift, OutcomeKind::kOk},
                       {config, 2, kCandidateRole, 102 * drift, OutcomeKind::kOk}}});
  }
  const db::LossRecord loss = judge_crossing({config}, rounds).at(0);
  BOOST_CHECK_CLOSE(loss.loss, 0.02, 1e-6);
  BOOST_CHECK_CLOSE(loss.placebo_noise, 0.002, 1e-6);
  BOOST_TEST(loss.rounds == kCrossRounds);
  BOOST_TEST(loss.losses == kCrossRounds);
  BOOST_TEST(loss.wins == 0);
  rounds.back().samples.pop_back();
  BOOST_TEST(judge_crossing({config}, rounds).at(0).rounds == 0);
}

BOOST_AUTO_TEST_CASE(a_session_measures_winners_at_their_neighbours_once) {
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  TwoSided device;
  const SessionResult first = device.run({16, 20, 24, 32}, &store);
  BOOST_TEST((first.shapes.at(0).winner.verdict == db::Verdict::kFaster));
  BOOST_TEST((first.shapes.at(3).winner.verdict != db::Verdict::kFaster));
  // As many workgroups are one split at batches 20 and 24, where it holds; both forms lose at 32.
  BOOST_TEST(first.crossing.planned == 4);
  BOOST_TEST(first.crossing.lost == 2);
  const SessionResult second = device.run({16, 20, 24, 32}, &store);
  BOOST_TEST(second.samples_measured == 0);
  BOOST_TEST(second.crossing.planned == 0);
  for (const db::Store::CheckRow& row : store.check()) BOOST_TEST(row.ok, row.detail);

  const policy::LookupTable table({directory.file("tuning.db")}, device.inner.space());
  BOOST_TEST((table.find(seed_problem(18)).config == device.tuned));
  BOOST_TEST(name(table.find(seed_problem(18)).source) == "interpolated");
  BOOST_TEST(name(table.find(seed_problem(28)).source) == "default");
}

// At the first fifteen rounds of a short launch the error of a median is as large as the bound.
BOOST_AUTO_TEST_CASE(a_loss_that_noise_leaves_open_gets_more_rounds) {
  for (const bool noisy : {false, true}) {
    const testing::TemporaryDirectory directory;
    db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
    TwoSided device;
    if (noisy) device.noisy_batch = 24;
    device.run({16}, &store);
    device.run({24}, &store);
    std::vector<int32_t> rounds;
    for (const db::TuningSummary& summary : store.summaries())
      for (const db::LossRecord& loss : store.load_losses(summary.tuning_id)) {
        rounds.push_back(loss.rounds);
        BOOST_TEST((decided(loss, policy::kCarriedLossBound) || loss.rounds == kMostCrossRounds));
      }
    BOOST_TEST_REQUIRE(!rounds.empty());
    for (const int32_t count : rounds)
      BOOST_TEST(count == (noisy ? kMostCrossRounds : kCrossRounds));
  }
}

BOOST_AUTO_TEST_CASE(a_loss_is_decided_where_its_error_does_not_reach_across_the_bound) {
  db::LossRecord loss;
  loss.rounds = 15;
  loss.placebo_noise = 0.02;  // an error of 0.96 %
  for (const auto& [measured, is_decided] :
       {std::pair(-0.03, true), {-0.004, false}, {0.005, false}, {0.014, false}, {0.016, true}}) {
    loss.loss = measured;
    BOOST_TEST(decided(loss, 0.005f) == is_decided, measured);
  }
  loss.loss = 0.012;
  BOOST_TEST(decided(loss, 0));
  BOOST_TEST(!decided(loss, 0.005f));
  loss.placebo_noise = 0.01;  // 0.48 %
  BOOST_TEST(decided(loss, 0.005f));
  loss.rounds = 0;
  BOOST_TEST(!decided(loss, 0.005f));
}

BOOST_AUTO_TEST_CASE(a_later_session_is_measured_against_the_shapes_of_an_earlier_one) {
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  TwoSided device;
  BOOST_TEST(device.run({24}, &store).crossing.planned == 0);
  BOOST_TEST(device.run({32}, &store).crossing.planned == 2);
}

BOOST_AUTO_TEST_CASE(a_winner_that_fails_at_a_neighbour_is_of_no_rounds_and_not_tried_again) {
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  TwoSided device;
  device.run({24}, &store);
  KernelConfig as_many_workgroups = device.tuned;
  as_many_workgroups.splits = 1;
  for (const KernelConfig& config : {device.tuned, as_many_workgroups})
    device.source.in_sample[config] = OutcomeKind::kWrong;
  const SessionResult later = device.run({32}, &store);
  BOOST_TEST(later.crossing.lost == 2);
  BOOST_TEST(device.run({32}, &store).crossing.planned == 0);
  const policy::LookupTable table({directory.file("tuning.db")}, device.inner.space());
  BOOST_TEST(table.find(seed_problem(28)).reason ==
             "the winners around this shape were not measured at their neighbours");
}

BOOST_AUTO_TEST_CASE(a_stop_within_the_crossing_leaves_it_to_the_next_run) {
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  TwoSided device;
  device.run({24}, &store);
  const int64_t whole = device.source.samples;
  device.run({32}, &store);
  const int64_t crossing = int64_t{kCrossRounds} * 4;
  TwoSided again;
  again.source.stop_at = device.source.samples - whole - crossing / 2;
  db::Store other = db::Store::open(directory.file("other.db"), db::OpenMode::kReadWrite);
  again.run({24}, &other);
  again.source.samples = 0;
  SessionOptions session;
  session.only = {again.tuned};
  const auto run = [&](const std::atomic<bool>& stop) {
    return run_session(again.source, &other, {}, {seed_problem(32)}, session, nullptr, stop);
  };
  const SessionResult cut = run(again.source.stop);
  BOOST_TEST((cut.shapes.at(0).status == ShapeStatus::kDone));
  BOOST_TEST(cut.crossing.planned == 2);
  BOOST_TEST(cut.crossing.lost + cut.crossing.held == 0);
  BOOST_TEST(run(kNeverStop).crossing.lost == 2);
}

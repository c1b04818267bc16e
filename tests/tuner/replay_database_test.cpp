// SPDX-License-Identifier: MIT
// A tuning database as a recording: a full sweep of a CPU, searched again from its own evidence.
#define BOOST_TEST_MODULE tuner_replay_database
#include <boost/test/unit_test.hpp>
#include <limits>

#include "db/store.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"
#include "tests/support/temporary_directory.h"
#include "tests/tuner/sessions.h"
#include "tuner/recording.h"
#include "tuner/replay_source.h"

using namespace mla;
using namespace mla::tuner;

namespace {

const std::string kSweep = MLA_TEST_ASSETS "/cpu_sweep.db";

Problem sweep_problem(int batch) {
  return parse_problem("batch=" + std::to_string(batch) + " nhead=12 seq_len=2048");
}

double recorded_us(const Recording& recording, const Problem& problem, const KernelConfig& config) {
  const RecordedConfig* row = recording.find(problem, config);
  BOOST_REQUIRE(row != nullptr);
  BOOST_REQUIRE(row->times_us.size() == 1U);
  return row->times_us[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_sweep_holds_every_configuration_of_the_hosts_space) {
  const Recording recording = load_recording(kSweep, {});
  BOOST_TEST(device_key(recording.device) == "x86-64/2cu/1xcd");
  BOOST_TEST(!recording.device.relative_times);
  BOOST_TEST(recording.problems().size() == 2U);
  const Space space = make_space(recording.device);
  for (const Problem& problem : recording.problems()) {
    const Space::Listing listing = space.list(problem);
    BOOST_TEST(listing.configs.size() == (problem.batch == 1 ? 416U : 832U));
    for (const KernelConfig& config : listing.configs)
      BOOST_TEST_REQUIRE(recorded_us(recording, problem, config) > 0, to_text(config));
  }
}

BOOST_AUTO_TEST_CASE(winner_and_finalist_are_within_two_percent_of_the_best_that_was_recorded) {
  const Recording recording = load_recording(kSweep, {});
  for (const int batch : {1, 4})
    for (const char* seed : {"1", "2", "3", "4", "5"}) {
      const auto source = open_replay_source(kSweep + ",noise=1%,seed=" + seed);
      const Problem problem = sweep_problem(batch);
      const db::WinnerRecord winner = tune(*source, {problem}).shapes.at(0).winner;
      const KernelConfig standard = policy::DefaultPolicy(source->space())(problem);
      double best_us = std::numeric_limits<double>::infinity(), best_other_us = best_us;
      for (const KernelConfig& config : source->list(problem).configs) {
        const double time_us = recorded_us(recording, problem, config);
        best_us = std::min(best_us, time_us);
        if (config != standard) best_other_us = std::min(best_other_us, time_us);
      }
      BOOST_TEST_CONTEXT("batch " << batch << " seed " << seed) {
        BOOST_TEST(recorded_us(recording, problem, winner.config) <= 1.02 * best_us);
        BOOST_TEST(recorded_us(recording, problem, winner.finalist) <= 1.02 * best_other_us);
      }
    }
}

BOOST_AUTO_TEST_CASE(shapes_that_the_sweep_lacks_end_not_recorded) {
  const auto source = open_replay_source(kSweep);
  for (const Problem& problem :
       {sweep_problem(2), parse_problem("batch=1 nhead=12 seq_len=2049")}) {
    const ShapeResult shape = tune(*source, {problem}).shapes.at(0);
    BOOST_TEST((shape.status == ShapeStatus::kFailed));
    BOOST_TEST(shape.text == "not_recorded: no recorded time of " + to_text(problem));
  }
}

BOOST_AUTO_TEST_CASE(samples_spread_as_they_did_when_they_were_recorded) {
  const auto source = open_replay_source(kSweep);
  const auto exact = open_replay_source(kSweep + ",noise=0%");
  const Recording recording = load_recording(kSweep, {});
  const Problem problem = sweep_problem(4);
  const KernelConfig config = policy::DefaultPolicy(source->space())(problem);
  BOOST_REQUIRE(source->select(problem, 1).ok());
  BOOST_REQUIRE(exact->select(problem, 1).ok());
  const SampleId id{db::Phase::kFinal, 0, 0, 0};
  BOOST_TEST(exact->sample(config, id).time_us == recorded_us(recording, problem, config));
  BOOST_TEST(source->sample(config, id).time_us != recorded_us(recording, problem, config));
  BOOST_TEST(recording.find(problem, config)->spread > 0);
}

// Its outcome row says that it crashed once and then that all is well; no sample followed.
BOOST_AUTO_TEST_CASE(a_configuration_with_an_outcome_and_no_time_is_not_recorded) {
  const testing::TemporaryDirectory directory;
  AnalyticSource device = small_device();
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  tune(device, {seed_problem(8)}, {}, &store);
  KernelConfig config = device.space().neutral();
  config.splits = 77;
  store.save_outcome(store.summaries().at(0).tuning_id, {config, {}, 1});
  const auto source = open_replay_source(directory.file("tuning.db"));
  BOOST_REQUIRE(source->select(seed_problem(8), 1).ok());
  BOOST_TEST((source->admit(config, true).kind == OutcomeKind::kNotRecorded));
}

// SPDX-License-Identifier: MIT
// Whole sessions on simulated devices: acceptance figures, failures, stop and resume.
#define BOOST_TEST_MODULE tuner_session
#include "tuner/session.h"

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tuner/analytic_source.h"
#include "tuner/replay_source.h"

using namespace mla;
using namespace mla::tuner;

namespace {

const std::atomic<bool> kNeverStop{false};

Problem seed_problem(int batch) {
  return parse_problem("batch=" + std::to_string(batch) + " nhead=12 seq_len=68000");
}

SessionResult tune(CandidateSource& source,
                   const std::vector<Problem>& problems,
                   const SessionOptions& options = {},
                   db::Store* store = nullptr) {
  return run_session(source, store, {}, problems, options, nullptr, kNeverStop);
}

std::unique_ptr<CandidateSource> recorded(const std::string& file, uint64_t seed) {
  return open_replay_source(MLA_TEST_ASSETS "/" + file + ",seed=" + std::to_string(seed));
}

// The verdict on the partial wait alone, against the drained baseline.
db::WinnerRecord partial_alone(int batch, uint64_t seed) {
  const auto source = recorded("seed_levers.csv", seed);
  SessionOptions options;
  options.baseline = "drained";
  KernelConfig partial = policy::drained_baseline(source->space(), seed_problem(batch));
  partial.wait = Wait::kPartial;
  options.only = {partial};
  return tune(*source, {seed_problem(batch)}, options).shapes.at(0).winner;
}

// Passes everything on, but counts samples, raises `stop` at one of them, and fails where it is
// told.
class FaultySource : public CandidateSource {
 public:
  explicit FaultySource(CandidateSource& inner) : inner_(inner) {}

  const DeviceInfo& info() const override { return inner_.info(); }
  const Space& space() const override { return inner_.space(); }
  db::Environment environment() const override { return inner_.environment(); }
  Space::Listing list(const Problem& problem) const override { return inner_.list(problem); }
  Outcome select(const Problem& problem, uint64_t seed) override {
    return inner_.select(problem, seed);
  }
  Outcome admit(const KernelConfig& config, bool first) override {
    ++admissions[config];
    const auto fault = in_admission.find(config);
    return fault == in_admission.end() ? inner_.admit(config, first)
                                       : Outcome{fault->second, "injected"};
  }
  Sample sample(const KernelConfig& config, const SampleId& id) override {
    if (++samples == stop_at) stop = true;
    const auto fault = in_sample.find(config);
    if (fault != in_sample.end()) return {{fault->second, "injected"}, 0};
    const auto time = wrong_time.find(config);
    if (time != wrong_time.end()) return {{}, time->second};
    return inner_.sample(config, id);
  }

  std::map<KernelConfig, OutcomeKind> in_admission, in_sample;
  std::map<KernelConfig, double> wrong_time;
  std::map<KernelConfig, int> admissions;
  std::atomic<bool> stop{false};
  int64_t samples = 0, stop_at = -1;

 private:
  CandidateSource& inner_;
};

struct TemporaryFile {
  TemporaryFile()
      : path(std::filesystem::temp_directory_path() /
             ("mla_session_test_" + std::to_string(getpid()) + ".db")) {
    remove();
  }
  ~TemporaryFile() { remove(); }
  void remove() const {
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(path + tail);
  }
  std::string path;
};

// Eight configurations of one time, one of them 5 % faster.
AnalyticSource small_device() {
  AnalyticOptions options;
  options.copies = 8;
  options.faster = 0.05;
  return AnalyticSource(options);
}

}  // namespace

BOOST_AUTO_TEST_CASE(partial_wait_alone_is_accepted_at_1_16_24_48_and_not_at_2_and_4) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const int batch : {1, 16, 24, 48})
      BOOST_TEST((partial_alone(batch, seed).verdict == db::Verdict::kFaster), batch);
    for (const int batch : {2, 4}) {
      const db::WinnerRecord winner = partial_alone(batch, seed);
      BOOST_TEST((winner.verdict != db::Verdict::kFaster), batch);
      BOOST_TEST((winner.config.wait == Wait::kDrain));
    }
  }
}

BOOST_AUTO_TEST_CASE(partial_wait_alone_ends_slower_at_8) {
  for (uint64_t seed = 1; seed <= 5; ++seed)
    BOOST_TEST((partial_alone(8, seed).verdict == db::Verdict::kSlower));
}

BOOST_AUTO_TEST_CASE(a_plain_session_answers_partial_at_1_16_24_48_and_drain_at_8) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto source = recorded("seed_levers.csv", seed);
    for (const int batch : {1, 16, 24, 48, 8}) {
      const ShapeResult shape = tune(*source, {seed_problem(batch)}).shapes.at(0);
      BOOST_TEST((shape.status == ShapeStatus::kDone));
      const Wait expected = batch == 8 ? Wait::kDrain : Wait::kPartial;
      BOOST_TEST((shape.winner.config.wait == expected), batch << " seed " << seed);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_default_that_was_not_recorded_gives_way_to_the_drained_baseline) {
  const auto source = recorded("seed_levers.csv", 1);
  const db::WinnerRecord winner = tune(*source, {seed_problem(16)}).shapes.at(0).winner;
  BOOST_TEST(winner.reference == "drained");
  BOOST_TEST((winner.verdict == db::Verdict::kFaster));
}

BOOST_AUTO_TEST_CASE(a_shape_without_any_baseline_fails_with_the_reason) {
  const auto source = recorded("seed_levers.csv", 1);
  const ShapeResult shape = tune(*source, {seed_problem(3)}).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kFailed));
  BOOST_TEST((shape.winner.verdict == db::Verdict::kFailed));
  BOOST_TEST(shape.text.find("not_recorded") != std::string::npos, shape.text);
}

BOOST_AUTO_TEST_CASE(thirty_copies_with_drift_and_outliers_replace_the_default_at_most_twice) {
  int replaced = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    AnalyticOptions device;
    device.noise = 0.01;
    device.copies = 30;
    device.drift = 0.03;
    device.outliers = 0.05;
    device.seed = seed;
    AnalyticSource source(device);
    SessionOptions options;
    options.seed = seed;
    const ShapeResult shape = tune(source, {seed_problem(8)}, options).shapes.at(0);
    replaced += shape.winner.verdict == db::Verdict::kFaster;
  }
  BOOST_TEST(replaced <= 2);
}

BOOST_AUTO_TEST_CASE(a_candidate_three_percent_better_is_found_in_950_of_1000) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    AnalyticOptions device;
    device.noise = 0.01;
    device.copies = 30;
    device.faster = 0.03;
    device.seed = seed;
    AnalyticSource source(device);
    SessionOptions options;
    options.seed = seed;
    const ShapeResult shape = tune(source, {seed_problem(8)}, options).shapes.at(0);
    found += shape.winner.verdict == db::Verdict::kFaster &&
             shape.winner.config == source.faster_copy(seed_problem(8));
  }
  BOOST_TEST(found >= 950);
}

BOOST_AUTO_TEST_CASE(the_search_over_a_whole_space_ends_within_two_percent_of_the_known_optimum) {
  AnalyticSource source(AnalyticOptions{});
  const Problem problem = seed_problem(24);
  const db::WinnerRecord winner = tune(source, {problem}).shapes.at(0).winner;
  double best_us = INFINITY;
  for (const KernelConfig& config : source.list(problem).configs)
    best_us = std::min(best_us, source.true_time_us(problem, config));
  BOOST_TEST((winner.verdict == db::Verdict::kFaster));
  BOOST_TEST(source.true_time_us(problem, winner.config) <= 1.02 * best_us);
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
  source.wrong_time = {{victims[3], NAN}, {victims[4], 0.0}, {victims[5], -5.0}};
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

BOOST_AUTO_TEST_CASE(a_budget_too_small_for_a_verdict_gives_none) {
  AnalyticSource source(AnalyticOptions{});
  SessionOptions options;
  options.budget_s = 1e-9;
  const ShapeResult shape = tune(source, {seed_problem(8)}, options).shapes.at(0);
  BOOST_TEST((shape.status == ShapeStatus::kOutOfBudget));
  BOOST_TEST(!shape.text.empty());
}

BOOST_AUTO_TEST_CASE(fewer_final_rounds_than_the_first_look_are_refused) {
  AnalyticSource source(AnalyticOptions{});
  SessionOptions options;
  options.final_rounds = 14;
  BOOST_CHECK_THROW(tune(source, {seed_problem(8)}, options), Error);
}

BOOST_AUTO_TEST_CASE(every_option_that_changes_the_measurement_changes_the_protocol) {
  const std::string plain = protocol_text({});
  SessionOptions rounds, most, baseline, only, budget;
  rounds.final_rounds = 30;
  most.max_configs = 5;
  baseline.baseline = "drained";
  only.only = {KernelConfig{}};
  budget.budget_s = 5;
  for (const SessionOptions& options : {rounds, most, baseline, only})
    BOOST_TEST(protocol_text(options) != plain);
  BOOST_TEST(protocol_text(budget) == plain);
}

BOOST_AUTO_TEST_CASE(the_same_run_twice_measures_nothing) {
  const TemporaryFile file;
  AnalyticSource source = small_device();
  db::Store store = db::Store::open(file.path, db::OpenMode::kReadWrite);
  const SessionResult first = tune(source, {seed_problem(8)}, {}, &store);
  const SessionResult second = tune(source, {seed_problem(8)}, {}, &store);
  BOOST_TEST(first.samples_measured > 0);
  BOOST_TEST(second.samples_measured == 0);
  BOOST_TEST((second.shapes.at(0).status == ShapeStatus::kAlreadyDone));
  BOOST_TEST((second.shapes.at(0).winner.config == first.shapes.at(0).winner.config));
}

BOOST_AUTO_TEST_CASE(a_run_stopped_at_any_sample_resumes_to_the_same_winner) {
  AnalyticSource inner = small_device();
  const SessionResult whole = tune(inner, {seed_problem(8)});
  const db::WinnerRecord& expected = whole.shapes.at(0).winner;
  const TemporaryFile file;
  db::Store store = db::Store::open(file.path, db::OpenMode::kReadWrite);
  SessionOptions options;
  options.retune = true;  // one database for all: a retune is another tuning by its run's start
  for (int64_t at = 1; at <= whole.samples_measured; ++at) {
    FaultySource source(inner);
    source.stop_at = at;
    db::RunInfo run;
    run.started_utc = "moment " + std::to_string(at);
    const auto tune_once = [&](CandidateSource& from, const std::atomic<bool>& stop) {
      return run_session(from, &store, run, {seed_problem(8)}, options, nullptr, stop);
    };
    const SessionResult cut = tune_once(source, source.stop);
    BOOST_TEST((cut.shapes.at(0).status == ShapeStatus::kStopped), at);
    const SessionResult resumed = tune_once(inner, kNeverStop);
    const db::WinnerRecord& winner = resumed.shapes.at(0).winner;
    BOOST_TEST((resumed.shapes.at(0).status == ShapeStatus::kDone));
    BOOST_TEST((winner.config == expected.config), at);
    BOOST_TEST((winner.verdict == expected.verdict));
    BOOST_TEST(winner.gain == expected.gain);
  }
}

// SPDX-License-Identifier: MIT
// The quality of a policy at shapes that were not tuned, on a device whose true times are known.
#define BOOST_TEST_MODULE tools_evaluate
#include "tools/evaluate.h"
#include "tools/misses.h"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"
#include "tuner/analytic_source.h"
#include "tuner/session.h"

using namespace mla;
using namespace mla::tools;

namespace {

const std::atomic<bool> kNeverStop{false};

Problem shape(int32_t batch, int64_t seq_len = 16384) {
  Problem problem;
  problem.batch = batch;
  problem.seq_len = seq_len;
  return problem;
}

tuner::AnalyticOptions quiet() {
  tuner::AnalyticOptions options;
  options.noise = 0.001;
  return options;
}

CompareOptions fresh_rounds() {
  CompareOptions options;
  options.max_rounds = 30;
  options.rung = 2;
  return options;
}

struct Fixture {
  void store(const Problem& problem, const KernelConfig& config, double gain) {
    db::Store store = db::Store::open(path, db::OpenMode::kReadWrite);
    db::TuningKey key;
    key.device = source.info();
    key.environment = source.environment();
    key.problem = problem;
    db::WinnerRecord winner;
    winner.problem = problem;
    winner.default_config = policy::DefaultPolicy(source.space())(problem);
    winner.config = winner.finalist = config;
    winner.verdict = db::Verdict::kFaster;
    winner.gain = gain;
    store.finish_tuning(store.open_tuning(store.begin_run({}), key).id, winner);
  }
  EvaluatedShape evaluate(const Problem& problem) {
    const policy::LookupTable table({path}, source.space());
    return evaluate_shape(source, table, problem, fresh_rounds(), kNeverStop);
  }

  testing::TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  tuner::AnalyticSource source{quiet()};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(regret_is_that_of_the_true_times, Fixture) {
  const Problem problem = shape(24);
  KernelConfig poor = policy::DefaultPolicy(source.space())(problem);
  poor.splits = 4;
  store(problem, poor, 0.02);
  const EvaluatedShape evaluated = evaluate(problem);
  BOOST_TEST(evaluated.failure == "");
  BOOST_TEST(evaluated.configs > 500);
  BOOST_TEST(evaluated.configs <= 2100);
  BOOST_TEST((evaluated.answer.config == poor));
  const double truth =
      source.true_time_us(problem, poor) / source.true_time_us(problem, evaluated.best) - 1;
  BOOST_TEST(std::abs(evaluated.regret - truth) < 0.005);
  // Whatever is listed is not faster by more than the noise.
  double fastest_us = source.true_time_us(problem, evaluated.best);
  for (const KernelConfig& config : source.list(problem).configs)
    fastest_us = std::min(fastest_us, source.true_time_us(problem, config));
  BOOST_TEST(source.true_time_us(problem, evaluated.best) <= 1.005 * fastest_us);
}

namespace {

// Counts the samples of the exhaustive search.
class CountingSource : public tuner::AnalyticSource {
 public:
  CountingSource() : AnalyticSource(quiet()) {}
  TimedRun sample(const KernelConfig& config, const tuner::SampleId& id) override {
    if (id.rung == 1000) ++samples[config];
    return AnalyticSource::sample(config, id);
  }

  std::unordered_map<KernelConfig, int> samples;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(only_the_hopeless_are_sampled_once, Fixture) {
  CountingSource counting;
  const Problem problem = shape(24);
  store(problem, policy::DefaultPolicy(source.space())(problem), 0.02);
  const policy::LookupTable table({path}, counting.space());
  const EvaluatedShape evaluated =
      evaluate_shape(counting, table, problem, fresh_rounds(), kNeverStop);
  BOOST_TEST(evaluated.failure == "");
  const double best_us = source.true_time_us(problem, evaluated.best);
  int hopeless = 0;
  for (const auto& [config, samples] : counting.samples) {
    const double behind = source.true_time_us(problem, config) / best_us;
    BOOST_TEST_REQUIRE((samples == kExhaustiveSamples || behind > kHopeless - 0.05));
    hopeless += samples == 1 ? 1 : 0;
  }
  BOOST_TEST(hopeless > 10);
}

BOOST_FIXTURE_TEST_CASE(an_answer_slower_than_the_default_is_counted, Fixture) {
  KernelConfig poor = policy::DefaultPolicy(source.space())(shape(24));
  poor.splits = 4;
  store(shape(24), poor, 0.02);
  const std::vector<EvaluatedShape> shapes = {evaluate(shape(24)), evaluate(shape(25))};
  const EvaluationSummary summary = summarize(shapes);
  BOOST_TEST(summary.shapes == 2);
  BOOST_TEST(summary.slower == 1);
  BOOST_TEST(summary.geomean_gain < 0);
  BOOST_TEST(summary.by_source[static_cast<int>(policy::Source::kExact)] == 1);
  BOOST_TEST(summary.by_source[static_cast<int>(policy::Source::kDefault)] == 1);
}

BOOST_AUTO_TEST_CASE(drawn_shapes_lie_within_the_tuned_range_and_are_not_tuned) {
  std::vector<Problem> tuned = {shape(4, 4096), shape(32, 4096), shape(4, 65536), shape(32, 65536)};
  tuned.push_back(shape(2, 1024));
  tuned.back().nhead = 128;
  const std::vector<Problem> drawn = draw_held_out(tuned, 100, 3);
  BOOST_TEST(drawn.size() == 100u);
  std::unordered_set<Problem> distinct(tuned.begin(), tuned.end());
  for (const Problem& problem : drawn) {
    BOOST_TEST(problem.nhead == 12);  // of the other family there is one shape
    BOOST_TEST((problem.batch >= 4 && problem.batch <= 32));
    BOOST_TEST((problem.seq_len >= 4096 && problem.seq_len <= 65536));
    BOOST_TEST(distinct.insert(problem).second);
  }
  BOOST_TEST((draw_held_out(tuned, 100, 3) == drawn));
  BOOST_TEST((draw_held_out(tuned, 100, 4) != drawn));
  BOOST_TEST(draw_held_out({shape(4)}, 10, 1).empty());
}

BOOST_FIXTURE_TEST_CASE(a_file_of_shapes_is_read_and_its_mistakes_named, Fixture) {
  const std::string file = directory.file("shapes.txt");
  std::ofstream(file) << "# two\n\nbatch=3 nhead=12 seq_len=5000\nbatch=5 nhead=16 seq_len=70\n";
  BOOST_TEST(read_shapes({file}).size() == 2u);
  BOOST_TEST(read_shapes({file})[1].nhead == 16);
  std::ofstream(file) << "batch=3 nhead=12\n";
  BOOST_CHECK_EXCEPTION(read_shapes({file}), Error, [&](const Error& e) {
    return std::string(e.what()).find(file + ":1: ") == 0;
  });
}

// A grid of nine shapes, eight held-out ones.
BOOST_FIXTURE_TEST_CASE(a_tuned_grid_is_slower_than_the_default_nowhere_between, Fixture) {
  {
    db::Store store = db::Store::open(path, db::OpenMode::kReadWrite);
    std::vector<Problem> grid;
    for (const int batch : {16, 24, 32})
      for (const int64_t seq_len : {8192, 16384, 32768}) grid.push_back(shape(batch, seq_len));
    tuner::SessionOptions options;
    options.max_configs = 300;
    tuner::run_session(source, &store, {}, grid, options, nullptr, kNeverStop);
  }
  std::vector<EvaluatedShape> shapes;
  for (const Problem& problem : draw_held_out(tuned_problems({path}, source.info()), 8, 1))
    shapes.push_back(evaluate(problem));
  const EvaluationSummary summary = summarize(shapes);
  BOOST_TEST(summary.shapes == 8);
  BOOST_TEST(summary.slower == 0);
  BOOST_TEST(summary.median_regret <= summary.p95_regret);
}

BOOST_FIXTURE_TEST_CASE(the_verb_evaluates_what_a_recording_holds_and_was_not_tuned, Fixture) {
  const std::string device = "replay:" MLA_TEST_ASSETS "/seed_levers.csv";
  const auto tuned = testing::run(
      {"run", "--device", device, "--batch", "16,24", "--seq-len", "68000", "--db", path});
  BOOST_TEST(tuned.status == 0, tuned.err);
  const auto evaluated = testing::run({"evaluate", "--device", device, "--db", path, "-q"});
  BOOST_TEST(evaluated.status == 0, evaluated.err);
  BOOST_TEST(evaluated.out.find("batch=48") != std::string::npos, evaluated.out);
  BOOST_TEST(evaluated.out.find("batch=24") == std::string::npos);
  BOOST_TEST(evaluated.out.find("0 slower than the default") != std::string::npos, evaluated.out);
}

// SPDX-License-Identifier: MIT
// Stored winners timed again: what is called held, lost or ambiguous, and what is written of it.
#define BOOST_TEST_MODULE tools_verify
#include "tools/verify.h"

#include <boost/test/unit_test.hpp>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"
#include "policy/lookup.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"
#include "tuner/analytic_source.h"

using namespace mla;
using namespace mla::tools;

namespace {

const std::atomic<bool> kNeverStop{false};

Problem shape(int32_t batch) {
  return parse_problem("batch=" + std::to_string(batch) + " nhead=12 seq_len=68000");
}

tuner::AnalyticOptions device_options(double faster) {
  tuner::AnalyticOptions options;
  options.copies = 4;
  options.faster = faster;
  options.noise = 0.001;
  return options;
}

struct Fixture {
  testing::TemporaryDirectory directory;
  std::string shipped = directory.file("shipped.db"), own = directory.file("own.db");

  // A winner of the shipped file, measured in `environment`.
  void ship(const tuner::AnalyticSource& source,
            const Problem& problem,
            const KernelConfig& config,
            const db::Environment& environment,
            double expected_us = 100,
            const std::string& protocol = "") {
    db::Store store = db::Store::open(shipped, db::OpenMode::kReadWrite);
    db::TuningKey key;
    key.device = source.info();
    key.environment = environment;
    key.problem = problem;
    key.protocol = protocol;
    db::WinnerRecord winner;
    winner.problem = problem;
    winner.default_config = policy::DefaultPolicy(source.space())(problem);
    winner.config = winner.finalist = config;
    winner.verdict = db::Verdict::kFaster;
    winner.gain = 0.04;
    winner.default_us =
        problem.seq_len > 0 ? source.true_time_us(problem, winner.default_config) : 0;
    winner.expected_us = expected_us;
    store.finish_tuning(store.open_tuning(store.begin_run({}), key).id, winner);
  }

  // Verifies all that `source` answers, into the user's own file.
  std::vector<VerifiedWinner> verify(tuner::AnalyticSource& source) {
    std::vector<std::string> files = {shipped};
    if (std::filesystem::exists(own)) files.push_back(own);
    db::Store store = db::Store::open(own, db::OpenMode::kReadWrite);
    const int64_t run_id = store.begin_run({});
    std::vector<VerifiedWinner> verified;
    for (const StoredWinner& winner : current_winners(files, source.info(), source.environment())) {
      verified.push_back(verify_winner(source, winner, {}, kNeverStop));
      keep(verified.back(), source, &store, run_id);
    }
    for (const db::Store::CheckRow& row : store.check()) BOOST_TEST(row.ok, row.detail);
    return verified;
  }

  policy::LookupTable table(const tuner::AnalyticSource& source) const {
    return policy::LookupTable({shipped, own}, source.space());
  }
};

KernelConfig faster_copy(const tuner::AnalyticSource& source) {
  return source.faster_copy(shape(8)).value();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_winner_that_still_wins_is_held_and_nothing_is_written, Fixture) {
  tuner::AnalyticSource source(device_options(0.04));
  ship(source, shape(8), faster_copy(source), source.environment());
  const std::vector<VerifiedWinner> verified = verify(source);
  BOOST_TEST_REQUIRE(verified.size() == 1u);
  BOOST_TEST(name(verified[0].state) == "held");
  BOOST_TEST(!verified[0].stored.stale);
  BOOST_TEST(db::Store::open(own, db::OpenMode::kReadOnly).info().winners == 0);
}

BOOST_FIXTURE_TEST_CASE(a_winner_that_lost_is_demoted_in_the_own_file_only, Fixture) {
  tuner::AnalyticOptions plain;
  plain.noise = 0.001;
  tuner::AnalyticSource source(plain);
  KernelConfig slower = policy::DefaultPolicy(source.space())(shape(8));
  slower.splits = 2;
  ship(source, shape(8), slower, source.environment());
  const int64_t shipped_winners = db::Store::open(shipped, db::OpenMode::kReadOnly).info().winners;
  const std::vector<VerifiedWinner> verified = verify(source);
  BOOST_TEST_REQUIRE(verified.size() == 1u);
  BOOST_TEST(name(verified[0].state) == "lost");
  BOOST_TEST(db::Store::open(shipped, db::OpenMode::kReadOnly).info().winners == shipped_winners);
  const auto rows = db::Store::open(own, db::OpenMode::kReadOnly).summaries();
  BOOST_TEST_REQUIRE(rows.size() == 1u);
  BOOST_TEST((rows[0].winner.status == db::WinnerStatus::kDemoted));
  BOOST_TEST(rows[0].winner.losses >= 13);
  BOOST_TEST(table(source).find(shape(8)).reason == "demoted: the winner no longer holds here");
  // What is demoted is no winner any more.
  BOOST_TEST(verify(source).empty());
}

BOOST_FIXTURE_TEST_CASE(a_gain_below_the_margin_is_ambiguous_and_stays, Fixture) {
  tuner::AnalyticSource source(device_options(0.003));
  ship(source, shape(8), faster_copy(source), source.environment());
  const std::vector<VerifiedWinner> verified = verify(source);
  BOOST_TEST(name(verified.at(0).state) == "ambiguous");
  BOOST_TEST(db::Store::open(own, db::OpenMode::kReadOnly).info().winners == 0);
}

BOOST_FIXTURE_TEST_CASE(a_stale_winner_that_held_is_renewed_for_this_environment, Fixture) {
  tuner::AnalyticSource source(device_options(0.04));
  db::Environment other = source.environment();
  other.code_hash = "another";
  ship(source, shape(8), faster_copy(source), other);
  BOOST_TEST(verify(source).at(0).stored.stale);
  const std::vector<VerifiedWinner> again = verify(source);
  BOOST_TEST(!again.at(0).stored.stale);
  BOOST_TEST(again.at(0).stored.database == own);
  const auto rows = db::Store::open(own, db::OpenMode::kReadOnly).summaries();
  BOOST_TEST((rows.at(0).environment == source.environment()));
  BOOST_TEST(rows.at(0).winner.rounds >= 15);
}

BOOST_FIXTURE_TEST_CASE(a_winner_that_is_not_legal_any_more_is_lost, Fixture) {
  tuner::AnalyticSource source(device_options(0));
  KernelConfig illegal = policy::DefaultPolicy(source.space())(shape(8));
  illegal.tile_n = 17;
  ship(source, shape(8), illegal, source.environment());
  const std::vector<VerifiedWinner> verified = verify(source);
  BOOST_TEST(name(verified.at(0).state) == "lost");
  BOOST_TEST(verified.at(0).text.find("tile_n") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(winners_come_with_the_longest_first_and_of_this_device_only, Fixture) {
  tuner::AnalyticSource source(device_options(0.04));
  tuner::AnalyticOptions smaller = device_options(0.04);
  smaller.compute_units = 128;
  ship(source, shape(8), faster_copy(source), source.environment(), 50);
  ship(source, shape(16), faster_copy(source), source.environment(), 200);
  ship(tuner::AnalyticSource(smaller), shape(24), faster_copy(source), source.environment());
  const auto winners = current_winners({shipped}, source.info(), source.environment());
  BOOST_TEST_REQUIRE(winners.size() == 2u);
  BOOST_TEST(winners[0].summary.winner.problem.batch == 16);
}

Problem plan_shape() {
  Problem problem = shape(8);
  problem.seq_len = 0;
  return problem;
}

BOOST_FIXTURE_TEST_CASE(a_plan_for_unknown_lengths_is_timed_at_each_of_its_lengths, Fixture) {
  tuner::AnalyticOptions plain;
  plain.noise = 0.0005;
  tuner::AnalyticSource source(plain);
  // A longer ring's fill costs more than it saves on a short loop (analytic_source.h).
  KernelConfig plan = policy::DefaultPolicy(source.space())(shape(8));
  plan.wait = Wait::kPartial;
  ship(source, plan_shape(), plan, source.environment(), 0, "test lengths={131072:1 262144:1}");
  const std::vector<VerifiedWinner> held = verify(source);
  BOOST_TEST_REQUIRE(held.size() == 1u);
  BOOST_TEST(name(held[0].state) == "held");
  BOOST_TEST(held[0].text == "worst at seq_len=131072");

  ship(source, plan_shape(), plan, source.environment(), 0, "test lengths={1024:1 262144:1}");
  const std::vector<VerifiedWinner> lost = verify(source);
  BOOST_TEST(name(lost.at(0).state) == "lost");
  BOOST_TEST(lost.at(0).text == "worst at seq_len=1024");
  BOOST_TEST(table(source).find(plan_shape()).reason ==
             "demoted: the plan for unknown lengths no longer holds");
}

// Says that it is an H200, whose default goes by the length.
class SaidH200 : public tuner::AnalyticSource {
 public:
  SaidH200() : AnalyticSource(device_options(0)) {
    DeviceInfo device;
    known_device("H200", &device);
    space_ = make_space(device);
  }
  const DeviceInfo& info() const override { return space_.device(); }
  const Space& space() const override { return space_; }

 private:
  Space space_;
};

BOOST_AUTO_TEST_CASE(a_plan_is_compared_with_the_default_that_is_answered_without_a_length) {
  SaidH200 source;
  const policy::DefaultPolicy default_policy(source.space());
  Problem brief = plan_shape();
  brief.seq_len = 512;
  StoredWinner stored;
  stored.summary.protocol = "test lengths={512:1 262144:1}";
  stored.summary.winner.problem = plan_shape();
  stored.summary.winner.config = default_policy(plan_shape());
  BOOST_REQUIRE((stored.summary.winner.config != default_policy(brief)));
  const VerifiedWinner verified = verify_winner(source, stored, {}, kNeverStop);
  BOOST_TEST(name(verified.state) == "held");
  BOOST_TEST(verified.text == "worst at seq_len=512: is the default");
}

BOOST_FIXTURE_TEST_CASE(a_plan_that_names_no_lengths_stays_unmeasured, Fixture) {
  tuner::AnalyticSource source(device_options(0));
  ship(source, plan_shape(), source.list(shape(8)).configs.front(), source.environment(), 0);
  BOOST_TEST(name(verify(source).at(0).state) == "unmeasured");
}

BOOST_FIXTURE_TEST_CASE(a_time_that_the_model_calls_impossible_is_marked, Fixture) {
  tuner::AnalyticSource source(tuner::AnalyticOptions{});
  for (const int batch : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128}) {
    KernelConfig config = policy::DefaultPolicy(source.space())(shape(batch));
    config.splits = std::max(1, config.splits / 2);
    const double time_us = source.true_time_us(shape(batch), config);
    ship(source, shape(batch), config, source.environment(), batch == 48 ? time_us / 20 : time_us);
  }
  const auto winners = current_winners({shipped}, source.info(), source.environment());
  for (const StoredWinner& row : winners) {
    BOOST_TEST(row.impossible == (row.summary.winner.problem.batch == 48),
               to_text(row.summary.winner.problem));
  }
}

BOOST_FIXTURE_TEST_CASE(the_verb_takes_the_heaviest_and_says_where_it_wrote, Fixture) {
  const std::string device = "analytic:copies=4,faster=4%,noise=0.1%";
  tuner::AnalyticSource source(device_options(0.04));
  ship(source, shape(8), faster_copy(source), source.environment(), 50);
  ship(source, shape(16), source.faster_copy(shape(16)).value(), source.environment(), 200);
  const std::vector<std::string> files = {"--db", shipped, "--db", own};
  const auto run = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"verify", "--device", device});
    args.insert(args.end(), files.begin(), files.end());
    return testing::run(args);
  };
  const auto heaviest = run({"--canary", "1"});
  BOOST_TEST(heaviest.status == 0);
  BOOST_TEST(heaviest.out.find("batch=16") != std::string::npos);
  BOOST_TEST(heaviest.out.find("batch=8") == std::string::npos);
  BOOST_TEST(heaviest.out.find("1 held, 0 lost, 0 ambiguous, 0 unmeasured; 0 rows written to " +
                               own) != std::string::npos);
  BOOST_TEST(run({"--stale"}).out == "no stored winner of this device is stale\n");
}

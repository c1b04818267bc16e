// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE merge
#include "db/merge.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "db/pool.h"
#include "db/winner_text.h"
#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

struct Fixture {
  WinnerRecord winner(int32_t batch, int32_t rounds = 15, int32_t wins = 14) const {
    WinnerRecord record = sample_winner(sample_problem(batch), base);
    record.config = record.finalist;
    record.rounds = rounds;
    record.wins = wins;
    record.losses = rounds - wins;
    return record;
  }

  // The same key for the same batch, whatever the winner says.
  void tune(const std::string& path, const WinnerRecord& winner, const std::string& driver = "1") {
    Store store = Store::open(path, OpenMode::kReadWrite);
    TuningKey key = sample_key(winner.problem.batch);
    key.environment.driver = driver;
    const int64_t id = store.open_tuning(store.begin_run(sample_run()), key).id;
    RoundRecord round = sample_round(0, 8, base);
    round.samples[0].time_us = winner.default_us;
    store.save_round(id, round);
    store.save_outcome(id, {base, {OutcomeKind::kFault, "signal 11"}, 1});
    store.finish_tuning(id, winner);
    LossRecord loss;
    loss.config = base;
    loss.rounds = 15;
    store.save_losses(id, {loss});
  }

  std::string exported(const std::string& path) const {
    return export_winners(Store::open(path, OpenMode::kReadOnly));
  }

  // The current winner of the one shape.
  WinnerRecord answer() const {
    const std::vector<TuningSummary> all = Store::open(target, OpenMode::kReadOnly).summaries();
    BOOST_TEST_REQUIRE(all.size() == 1u);
    return all.front().winner;
  }

  void expect_sound() const {
    for (const Store::CheckRow& row : Store::open(target, OpenMode::kReadOnly).check()) {
      BOOST_TEST(row.ok, row.check << ": " << row.detail);
    }
  }

  TemporaryDirectory directory;
  const std::string source = directory.file("source.db"), target = directory.file("target.db");
  const KernelConfig base = make_space(sample_device()).neutral();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(merging, Fixture)

BOOST_AUTO_TEST_CASE(shapes_of_both_are_there_with_their_evidence_and_the_source_stays) {
  tune(target, winner(4));
  tune(source, winner(8));
  tune(source, winner(16));
  const std::string before = exported(source);
  const Merged merged = merge(source, target);
  BOOST_TEST(merged.tunings_added == 2);
  const DatabaseInfo info = Store::open(target, OpenMode::kReadOnly).info();
  BOOST_TEST(info.winners == 3);
  BOOST_TEST(info.rounds == 3);
  BOOST_TEST(info.samples == 24);
  BOOST_TEST(info.outcomes == 3);
  BOOST_TEST(info.devices == 1);
  BOOST_TEST(info.runs == 1);  // equal in every column
  BOOST_TEST(info.parents == Store::open(source, OpenMode::kReadOnly).info().database_id);
  BOOST_TEST(exported(source) == before);
  const Store store = Store::open(target, OpenMode::kReadOnly);
  for (const TuningSummary& summary : store.summaries()) {
    BOOST_TEST(store.load_rounds(summary.tuning_id).size() == 1u);
    BOOST_TEST(store.load_losses(summary.tuning_id).size() == 1u);
  }
  expect_sound();
}

BOOST_AUTO_TEST_CASE(into_a_new_file_a_merge_is_a_copy) {
  tune(source, winner(8));
  merge(source, target);
  BOOST_TEST(exported(target) == exported(source));
}

BOOST_AUTO_TEST_CASE(merging_again_adds_nothing) {
  tune(target, winner(8, 15, 15));
  tune(source, winner(8));
  tune(source, winner(16));
  merge(source, target);
  const std::string before = exported(target);
  const Merged again = merge(source, target);
  BOOST_TEST(again.tunings_added == 0);
  BOOST_TEST(again.tunings_known == 2);
  BOOST_TEST(exported(target) == before);
}

BOOST_AUTO_TEST_CASE(a_source_is_known_after_its_answer_was_pooled_and_its_shape_crossed) {
  const std::string other = directory.file("other.db");
  WinnerRecord more = winner(8, 30, 24);
  more.default_us = 110;
  tune(source, winner(8));
  tune(other, more);
  merge(source, target);
  BOOST_TEST(merge(other, target).pooled == 1);
  {
    Store store = Store::open(target, OpenMode::kReadWrite);
    RoundRecord round = sample_round(0, 3, base);
    round.phase = Phase::kCross;
    store.save_round(store.open_tuning(store.begin_run(sample_run()), sample_key(8)).id, round);
  }
  for (const std::string& again : {source, other}) {
    BOOST_TEST(merge(again, target).tunings_added == 0);
    BOOST_TEST(answer().rounds == 45);
  }
}

// In turn: the answer came to the source and was pooled there with a third file's.
BOOST_AUTO_TEST_CASE(rounds_that_come_back_from_another_file_do_not_count_twice) {
  const std::string other = directory.file("other.db");
  WinnerRecord more = winner(8, 30, 24);
  more.default_us = 110;
  tune(target, winner(8));
  tune(other, more);
  merge(target, source);
  BOOST_TEST(merge(other, source).pooled == 1);
  const Merged back = merge(source, target);
  BOOST_TEST(back.tunings_known == 1);
  BOOST_TEST(back.tunings_added == 1);
  BOOST_TEST(answer().rounds == 45);
  BOOST_TEST(exported(target) == exported(source));
  BOOST_TEST(merge(source, target).tunings_added == 0);
  BOOST_TEST(merge(other, target).tunings_added == 0);
  BOOST_TEST(answer().rounds == 45);
  expect_sound();
}

BOOST_AUTO_TEST_CASE(rounds_that_were_pooled_into_an_answer_of_the_source_do_not_count_twice) {
  WinnerRecord more = winner(8, 30, 24);
  more.default_us = 110;
  tune(target, winner(8));
  tune(source, more);
  BOOST_TEST(merge(target, source).pooled == 1);
  const Merged back = merge(source, target);
  BOOST_TEST(back.tunings_known == 1);
  BOOST_TEST(back.tunings_added == 1);
  BOOST_TEST(answer().rounds == 45);
  BOOST_TEST(merge(target, source).tunings_added == 0);
  expect_sound();
}

BOOST_AUTO_TEST_CASE(answers_that_both_count_the_same_rounds_are_not_pooled) {
  const std::string other = directory.file("other.db"), third = directory.file("third.db");
  WinnerRecord more = winner(8, 30, 24), most = winner(8, 60, 48);
  more.default_us = 110;
  most.default_us = 120;
  tune(target, winner(8));
  tune(other, more);
  tune(third, most);
  merge(target, source);
  merge(other, target);
  merge(third, source);
  const Merged merged = merge(source, target);
  BOOST_TEST(merged.pooled == 0);
  BOOST_TEST(merged.agreed == 1);
  BOOST_TEST(answer().rounds == 75);
}

BOOST_AUTO_TEST_CASE(losses_that_a_known_tuning_gained_in_the_source_are_added) {
  tune(source, winner(8));
  merge(source, target);
  LossRecord loss;
  loss.config = winner(8).finalist;
  loss.rounds = 15;
  {
    Store store = Store::open(source, OpenMode::kReadWrite);
    store.save_losses(store.summaries().front().tuning_id, {loss});
  }
  BOOST_TEST(merge(source, target).tunings_added == 0);
  const Store store = Store::open(target, OpenMode::kReadOnly);
  BOOST_TEST(store.load_losses(store.summaries().front().tuning_id).size() == 2u);
}

BOOST_AUTO_TEST_CASE(rounds_of_the_same_finalist_count_together) {
  tune(target, winner(8));
  WinnerRecord other = winner(8, 30, 24);
  other.finalist_gain = 0.03;
  other.default_us = 110;
  tune(source, other);
  BOOST_TEST(merge(source, target).pooled == 1);
  const WinnerRecord pooled = answer();
  BOOST_TEST((pooled.verdict == Verdict::kFaster));
  BOOST_TEST(pooled.rounds == 45);
  BOOST_TEST(pooled.wins == 38);
  BOOST_TEST(pooled.losses == 7);
  BOOST_TEST(pooled.finalist_gain == (15 * 0.045 + 30 * 0.03) / 45);
  BOOST_TEST(pooled.p_value == sign_test(45, 38));
  expect_sound();
}

BOOST_AUTO_TEST_CASE(rounds_that_together_decide_nothing_leave_the_default) {
  tune(target, winner(8));
  WinnerRecord other = winner(8, 15, 5);
  other.verdict = Verdict::kDefaultBest;
  other.config = other.default_config;
  tune(source, other);
  BOOST_TEST(merge(source, target).pooled == 1);
  BOOST_TEST((answer().verdict == Verdict::kUndecided));
  BOOST_TEST((answer().config == base));
  BOOST_TEST(answer().gain == 0);
  expect_sound();
}

BOOST_AUTO_TEST_CASE(a_time_that_is_too_good_does_not_win) {
  tune(target, winner(8));
  WinnerRecord other = winner(8);
  other.finalist.splits = other.config.splits = 5;
  other.expected_us = 1;
  other.gain = other.finalist_gain = 103;
  tune(source, other);
  BOOST_TEST(merge(source, target).disagree == 1);
  BOOST_TEST((answer().config == winner(8).config));
  BOOST_TEST((answer().status == WinnerStatus::kVerifyAgain));
  BOOST_TEST(Store::open(target, OpenMode::kReadOnly).info().winners == 3);  // both are kept
  expect_sound();
}

BOOST_AUTO_TEST_CASE(of_two_files_that_agree_the_one_with_more_rounds_is_current) {
  WinnerRecord mine = winner(8), theirs = winner(8, 60, 50);
  theirs.finalist.splits = 3;  // another finalist, the same answer
  mine.verdict = theirs.verdict = Verdict::kDefaultBest;
  mine.config = theirs.config = base;
  tune(target, mine);
  tune(source, theirs);
  BOOST_TEST(merge(source, target).agreed == 1);
  BOOST_TEST(answer().rounds == 60);
  BOOST_TEST((answer().status == WinnerStatus::kActive));
}

BOOST_AUTO_TEST_CASE(rounds_of_another_environment_are_not_added) {
  tune(target, winner(8));
  tune(source, winner(8, 30, 24), "2");
  const Merged merged = merge(source, target);
  BOOST_TEST(merged.pooled == 0);
  BOOST_TEST(merged.agreed == 1);
  BOOST_TEST(answer().rounds == 30);
}

BOOST_AUTO_TEST_CASE(a_demoted_answer_is_not_pooled_away) {
  WinnerRecord demoted = winner(8);
  demoted.status = WinnerStatus::kDemoted;
  tune(target, demoted);
  tune(source, winner(8, 30, 24));
  BOOST_TEST(merge(source, target).disagree == 1);
  BOOST_TEST((answer().status == WinnerStatus::kDemoted));
}

BOOST_AUTO_TEST_CASE(the_target_itself_or_a_missing_file_is_no_source) {
  tune(target, winner(8));
  BOOST_CHECK_THROW(merge(target, target), Error);
  BOOST_CHECK_THROW(merge(directory.file("none.db"), target), Error);
  BOOST_TEST(Store::open(target, OpenMode::kReadOnly).info().winners == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(the_sign_test_counts_coins) {
  BOOST_TEST(sign_test(2, 2) == 0.25, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(sign_test(15, 13) == 121.0 / 32768, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(sign_test(15, 0) == 1.0, boost::test_tools::tolerance(1e-12));
}

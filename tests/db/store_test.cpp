// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE store
#include "db/store.h"

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

struct Fixture {
  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  Store store = Store::open(path, OpenMode::kReadWrite);
  KernelConfig base = make_space(sample_device()).neutral();
  int64_t run = store.begin_run(sample_run());

  int64_t tuning(int32_t batch = 8) { return store.open_tuning(run, sample_key(batch)).id; }
};

void check_equal(const RoundRecord& a, const RoundRecord& b) {
  BOOST_TEST((a.phase == b.phase));
  BOOST_TEST(a.rung == b.rung);
  BOOST_TEST(a.round == b.round);
  BOOST_TEST(a.attempt == b.attempt);
  BOOST_TEST_REQUIRE(a.samples.size() == b.samples.size());
  for (size_t i = 0; i < a.samples.size(); ++i) {
    BOOST_TEST((a.samples[i].config == b.samples[i].config));
    BOOST_TEST(a.samples[i].position == b.samples[i].position);
    BOOST_TEST(a.samples[i].role == b.samples[i].role);
    BOOST_TEST(a.samples[i].time_us == b.samples[i].time_us);
    BOOST_TEST((a.samples[i].outcome == b.samples[i].outcome));
  }
}

bool all_ok(const Store& store) {
  bool ok = true;
  for (const Store::CheckRow& row : store.check()) {
    BOOST_TEST(row.ok, row.check << ": " << row.detail);
    ok = ok && row.ok;
  }
  return ok;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(rounds_come_back_as_saved_and_in_that_order, Fixture) {
  const int64_t id = tuning();
  RoundRecord final_round = sample_round(3, 4, base);
  final_round.phase = Phase::kFinal;
  final_round.rung = 2;
  final_round.attempt = 1;
  final_round.samples[1].role = "placebo";
  final_round.samples[2].role = "drained";
  final_round.samples[3].outcome = OutcomeKind::kHang;
  final_round.samples[3].time_us = 0;
  const std::vector<RoundRecord> saved = {
      sample_round(1, 64, base), sample_round(0, 3, base), final_round};
  for (const RoundRecord& round : saved) store.save_round(id, round);
  const auto loaded = store.load_rounds(id);
  BOOST_TEST_REQUIRE(loaded.size() == saved.size());
  for (size_t i = 0; i < saved.size(); ++i) check_equal(saved[i], loaded[i]);
  BOOST_TEST(store.load_rounds(id + 1).empty());
}

BOOST_FIXTURE_TEST_CASE(a_winner_and_where_it_comes_from_come_back_as_saved, Fixture) {
  const int64_t id = tuning();
  BOOST_TEST(!store.load_winner(id));
  const WinnerRecord saved = sample_winner(sample_problem(), base);
  store.finish_tuning(id, saved);
  const auto list = store.summaries();
  BOOST_TEST_REQUIRE(list.size() == 1u);
  const TuningSummary& summary = list[0];
  BOOST_TEST(summary.tuning_id == id);
  BOOST_TEST(summary.protocol == sample_key().protocol);
  BOOST_TEST(summary.run.seed == sample_run().seed);
  BOOST_TEST(summary.run.command_line == sample_run().command_line);
  BOOST_TEST(summary.environment.code_hash == "code 4");
  BOOST_TEST(device_key(summary.device) == device_key(sample_device()));
  BOOST_TEST(summary.device.memory_bytes == sample_device().memory_bytes);
  for (const WinnerRecord& loaded : {summary.winner, *store.load_winner(id)}) {
    BOOST_TEST((loaded.problem == saved.problem));
    BOOST_TEST((loaded.config == saved.config));
    BOOST_TEST((loaded.default_config == saved.default_config));
    BOOST_TEST((loaded.finalist == saved.finalist));
    BOOST_TEST((loaded.verdict == saved.verdict));
    BOOST_TEST(loaded.gain_low == saved.gain_low);
    BOOST_TEST(loaded.gain_high == saved.gain_high);
    BOOST_TEST(loaded.finalist_gain == saved.finalist_gain);
    BOOST_TEST(loaded.drained_gain == saved.drained_gain);
    BOOST_TEST(loaded.p_value == saved.p_value);
    BOOST_TEST(loaded.placebo_noise == saved.placebo_noise);
    BOOST_TEST(loaded.expected_us == saved.expected_us);
    BOOST_TEST(loaded.workspace_bytes == saved.workspace_bytes);
    BOOST_TEST(loaded.capture_checked);
    BOOST_TEST(loaded.configs_pruned == saved.configs_pruned);
  }
  BOOST_TEST(all_ok(store));
}

BOOST_FIXTURE_TEST_CASE(the_newest_outcome_of_a_candidate_replaces_the_last, Fixture) {
  const int64_t id = tuning();
  store.save_outcome(id, {base, {OutcomeKind::kFault, "signal 11"}, 1});
  store.save_outcome(id, {base, {OutcomeKind::kQuarantined, "two crashes"}, 2});
  const auto outcomes = store.load_outcomes(id);
  BOOST_TEST_REQUIRE(outcomes.size() == 1u);
  BOOST_TEST((outcomes[0].outcome.kind == OutcomeKind::kQuarantined));
  BOOST_TEST(outcomes[0].outcome.text == "two crashes");
  BOOST_TEST(outcomes[0].crashes == 2);
  BOOST_TEST((outcomes[0].config == base));
}

BOOST_FIXTURE_TEST_CASE(the_same_key_is_the_same_tuning_and_any_difference_is_another, Fixture) {
  const int64_t id = tuning();
  BOOST_TEST(tuning() == id);
  BOOST_TEST(Store::open(path, OpenMode::kReadWrite).open_tuning(run, sample_key()).id == id);
  store.finish_tuning(id, sample_winner(sample_problem(), base));
  BOOST_TEST(store.open_tuning(run, sample_key()).finished);

  TuningKey other = sample_key();
  other.seed = 8;
  BOOST_TEST(store.open_tuning(run, other).id != id);
  other = sample_key();
  other.environment.driver = "driver 2";
  const TuningState changed = store.open_tuning(run, other);
  BOOST_TEST(changed.id != id);
  BOOST_TEST(!changed.finished);
}

BOOST_FIXTURE_TEST_CASE(devices_problems_and_candidates_are_stored_once, Fixture) {
  for (const int32_t batch : {1, 2, 1}) {
    const int64_t id = tuning(batch);
    store.save_outcome(id, {base, {OutcomeKind::kWrong, "row 3"}, 0});
  }
  const DatabaseInfo info = store.info();
  BOOST_TEST(info.devices == 1);
  BOOST_TEST(info.problems == 2);
  BOOST_TEST(info.tunings == 2);
  BOOST_TEST(info.tunings_open == 2);
  BOOST_TEST(info.candidates == 1);
  BOOST_TEST(info.database_id.size() == 32u);
  BOOST_TEST(info.journal_mode == "wal");
}

BOOST_FIXTURE_TEST_CASE(the_newest_winner_of_a_device_and_problem_is_the_current_one, Fixture) {
  const int64_t first = tuning();
  store.finish_tuning(first, sample_winner(sample_problem(), base));
  TuningKey again = sample_key();
  again.device.name = "another name for the same hard fields";
  const int64_t second = store.open_tuning(run, again).id;
  WinnerRecord better = sample_winner(sample_problem(), base);
  better.gain = 0.5;
  store.finish_tuning(second, better);
  const auto list = store.summaries();
  BOOST_TEST_REQUIRE(list.size() == 1u);
  BOOST_TEST(list[0].tuning_id == second);
  BOOST_TEST(list[0].winner.gain == 0.5);
  BOOST_TEST(store.load_winner(first)->gain == 0.04);
}

BOOST_FIXTURE_TEST_CASE(a_round_is_stored_once, Fixture) {
  const int64_t id = tuning();
  store.save_round(id, sample_round(0, 3, base));
  BOOST_CHECK_EXCEPTION(store.save_round(id, sample_round(0, 3, base)), Error, [](const Error& e) {
    return std::string(e.what()).find("already holds search round 0") != std::string::npos;
  });
  BOOST_TEST(store.info().samples == 3);
}

BOOST_FIXTURE_TEST_CASE(a_round_with_a_time_that_is_no_number_leaves_nothing_behind, Fixture) {
  const int64_t id = tuning();
  RoundRecord round = sample_round(0, 3, base);
  round.samples[2].time_us = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_THROW(store.save_round(id, round), Error);
  BOOST_TEST(store.info().rounds == 0);
  BOOST_TEST(store.info().samples == 0);
  store.save_round(id, sample_round(0, 3, base));
  BOOST_TEST(store.info().samples == 3);
}

BOOST_FIXTURE_TEST_CASE(a_tuning_that_is_not_there_is_named, Fixture) {
  BOOST_CHECK_EXCEPTION(store.save_round(99, sample_round(0, 1, base)), Error, [&](const Error& e) {
    return e.what() == path + ": holds no tuning 99";
  });
}

BOOST_FIXTURE_TEST_CASE(a_sample_takes_less_than_60_bytes, Fixture) {
  const int64_t id = tuning();
  for (int round = 0; round < 200; ++round) store.save_round(id, sample_round(round, 64, base));
  const int64_t samples = store.info().samples;
  store = Store::open(directory.file("other.db"), OpenMode::kReadWrite);  // merges the log
  BOOST_TEST(static_cast<int64_t>(std::filesystem::file_size(path)) < 60 * samples);
}

BOOST_FIXTURE_TEST_CASE(the_check_names_a_configuration_that_its_device_cannot_run, Fixture) {
  WinnerRecord winner = sample_winner(sample_problem(), base);
  winner.config.tile_n = 17;
  store.finish_tuning(tuning(), winner);
  bool found = false;
  for (const Store::CheckRow& row : store.check()) {
    if (!row.ok) found = found || row.detail.find("tile_n=17") != std::string::npos;
  }
  BOOST_TEST(found);
}

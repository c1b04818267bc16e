// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE snapshot
#include "db/snapshot.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "db/fake_winners.h"
#include "db/store.h"
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
  Space space = make_space(sample_device());
  std::vector<SnapshotRow> rows;

  SnapshotLoad load(const Space& of, const Environment* environment = nullptr) {
    rows.clear();
    return load_snapshot(
        path, of, {[&](const SnapshotRow& row) { rows.push_back(row); }}, environment);
  }
  void store(const WinnerRecord& winner, const TuningKey& key = sample_key()) {
    Store store = Store::open(path, OpenMode::kReadWrite);
    store.finish_tuning(store.open_tuning(store.begin_run(sample_run()), key).id, winner);
  }
  WinnerRecord winner() { return sample_winner(sample_problem(), space.neutral()); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(every_winner_of_the_device_arrives_once, Fixture) {
  write_fake_winners(path, sample_device(), 5000, 1);
  const SnapshotLoad load = this->load(space);
  BOOST_TEST(load.rows_used == 5000);
  BOOST_TEST(load.rows_skipped == 0);
  BOOST_TEST(load.reasons.empty());
  std::set<std::string> problems;
  for (const SnapshotRow& row : rows) problems.insert(to_text(row.problem));
  BOOST_TEST(problems.size() == 5000u);
}

BOOST_FIXTURE_TEST_CASE(another_compute_unit_count_is_another_device, Fixture) {
  write_fake_winners(path, sample_device(), 10, 1);
  DeviceInfo other = sample_device();
  other.compute_units = 32;
  const SnapshotLoad load = this->load(make_space(other));
  BOOST_TEST(load.rows_used == 0);
  BOOST_TEST(load.rows_other_device == 10);
  BOOST_TEST(rows.empty());
}

BOOST_FIXTURE_TEST_CASE(a_soft_difference_keeps_the_row_and_asks_to_verify_again, Fixture) {
  store(winner());
  Environment here = sample_environment();
  load(space, &here);
  BOOST_TEST(!rows.at(0).verify_again);
  here.driver = "driver 99";
  load(space, &here);
  BOOST_TEST(rows.at(0).verify_again);
  DeviceInfo renamed = sample_device();
  renamed.name = "Fictional 9 rev B";
  load(make_space(renamed));
  BOOST_TEST(rows.at(0).verify_again);
}

BOOST_FIXTURE_TEST_CASE(the_newest_winner_answers, Fixture) {
  store(winner());
  TuningKey again = sample_key();
  again.seed = 99;
  WinnerRecord newer = winner();
  newer.gain = 0.25;
  store(newer, again);
  BOOST_TEST(load(space).rows_used == 1);
  BOOST_TEST(rows.at(0).gain == 0.25f);
}

BOOST_FIXTURE_TEST_CASE(a_demoted_winner_answers_with_the_default, Fixture) {
  WinnerRecord demoted = winner();
  demoted.status = WinnerStatus::kDemoted;
  store(demoted);
  load(space);
  BOOST_TEST((rows.at(0).config == demoted.default_config));
  BOOST_TEST((rows.at(0).verdict == Verdict::kDefaultBest));
  BOOST_TEST(rows.at(0).gain == 0);
}

BOOST_FIXTURE_TEST_CASE(an_illegal_configuration_is_skipped_with_a_reason, Fixture) {
  WinnerRecord illegal = winner();
  illegal.config.tile_n = 17;
  store(illegal);
  const SnapshotLoad load = this->load(space);
  BOOST_TEST(load.rows_skipped == 1);
  BOOST_TEST_REQUIRE(load.reasons.size() == 1u);
  BOOST_TEST(load.reasons[0].find("tile_n") != std::string::npos);
  BOOST_TEST(rows.empty());
}

BOOST_FIXTURE_TEST_CASE(ratios_of_a_recording_are_not_shown_as_times, Fixture) {
  TuningKey key = sample_key();
  key.device.relative_times = true;
  store(winner(), key);
  load(space);
  BOOST_TEST(rows.at(0).expected_us == 0);
  BOOST_TEST(rows.at(0).gain > 0);
}

// SPDX-License-Identifier: MIT
// Guard point 2 as a lookup sees it: what is answered between tuned shapes, and everything that is
// refused there.
#define BOOST_TEST_MODULE between_shapes
#include <sqlite3.h>

#include <boost/test/unit_test.hpp>

#include "policy/lookup.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::policy;
using mla::testing::mi355x;
using mla::testing::shape;
using mla::testing::TemporaryDirectory;
using mla::testing::TunedDatabase;

namespace {

// The knobs in which the default differs from shape to shape: a winner has to be one configuration.
constexpr const char* kStage2 = " stage2_tiles=1 stage2_warps=8";

std::string with_splits(int splits, const std::string& more = "") {
  return "splits=" + std::to_string(splits) + kStage2 + more;
}

// One workgroup a request and split at nhead 12: 128 at batch 16, 192 at 24, on 256 CUs.
const std::string kTuned = with_splits(8, " wait=partial");

struct Fixture {
  // Batches 16 and 24 at two lengths, whose winners agree in all but the last one: that keeps its
  // default, and the winner has been measured there.
  void write_grid(double gain = 0.05, double placebo_noise = 0.001) {
    TunedDatabase database(path);
    for (const auto& [batch, seq_len] : {std::pair(16, 32768), {24, 32768}, {16, 65536}}) {
      database.add_winner(shape(batch, seq_len), kTuned, gain, placebo_noise);
    }
    database.add_verdict(shape(24, 65536), db::Verdict::kDefaultBest);
    database.add_loss(shape(24, 65536), kTuned, -0.02);
  }

  Answer find(const Problem& problem) const {
    const LookupTable table({path}, space);
    Answer answer = table.find(problem);
    BOOST_TEST(((*answer.database == '\0') == (answer.source == Source::kDefault)));
    answer.database = "";  // the path belongs to the table
    return answer;
  }

  void check_refused(const Problem& problem, const std::string& reason) const {
    const Answer answer = find(problem);
    BOOST_TEST(name(answer.source) == "default");
    BOOST_TEST(answer.reason == reason);
    BOOST_TEST(to_text(answer.config) == to_text(DefaultPolicy(space)(problem)));
  }

  void execute(const std::string& sql) const {
    sqlite3* file = nullptr;
    BOOST_TEST_REQUIRE(sqlite3_open(path.c_str(), &file) == SQLITE_OK);
    BOOST_TEST(sqlite3_exec(file, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(file);
  }

  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  Space space = make_space(mi355x());
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(between_shapes, Fixture)

BOOST_AUTO_TEST_CASE(a_winner_that_holds_at_all_shapes_around_is_answered_with_its_worst_gain) {
  write_grid();
  for (const auto& [batch, seq_len] : {std::pair(20, 45000), {16, 45000}, {20, 32768}}) {
    const Answer answer = find(shape(batch, seq_len));
    BOOST_TEST(name(answer.source) == "interpolated");
    BOOST_TEST(answer.reason == "holds at the tuned shapes around this one");
    BOOST_TEST(answer.config.splits == 8);
    BOOST_CHECK(answer.config.wait == Wait::kPartial);
    BOOST_TEST(answer.expected_us == 0.0f);
    BOOST_TEST(answer.winner_id > 0);
  }
  BOOST_CHECK_CLOSE(find(shape(20, 32768)).gain, 0.05f, 0.01);
  BOOST_CHECK_CLOSE(find(shape(20, 45000)).gain, 1 / 0.98f - 1, 0.1);
}

BOOST_AUTO_TEST_CASE(a_winner_with_the_splits_of_the_default_takes_those_of_the_default_between) {
  {
    // 16 splits of the default at batch 16 and 10 at 24, where the winner keeps stage 2 as well.
    TunedDatabase database(path);
    for (const int batch : {16, 24}) database.add_winner(shape(batch, 32768), "wait=partial");
  }
  const Answer answer = find(shape(20, 32768));
  BOOST_TEST(name(answer.source) == "interpolated");
  KernelConfig expected = DefaultPolicy(space)(shape(20, 32768));
  BOOST_TEST(expected.splits == 12);
  expected.wait = Wait::kPartial;
  BOOST_TEST(to_text(answer.config) == to_text(expected));
}

BOOST_AUTO_TEST_CASE(an_order_that_needs_certain_splits_is_carried_with_its_own) {
  {
    TunedDatabase database(path);
    database.add_winner(shape(16, 32768), "order=split_major splits=8");
    database.add_verdict(shape(24, 32768), db::Verdict::kDefaultBest);
    database.add_loss(
        shape(24, 32768), "order=split_major splits=8 stage2_tiles=2 stage2_warps=4", -0.02);
  }
  const Answer answer = find(shape(20, 32768));
  BOOST_TEST(name(answer.source) == "interpolated");
  BOOST_TEST(answer.config.splits == 8);
  BOOST_TEST(!space.violation(shape(20, 32768), answer.config));
}

BOOST_AUTO_TEST_CASE(splits_of_its_own_become_as_many_workgroups_where_that_form_was_measured) {
  {
    TunedDatabase database(path);
    database.add_winner(shape(16, 32768), with_splits(24));  // 384 workgroups
    database.add_verdict(shape(24, 32768), db::Verdict::kDefaultBest);
    database.add_loss(shape(24, 32768), with_splits(24), 0.04);
    database.add_loss(shape(24, 32768), with_splits(16), -0.02);
  }
  const Answer answer = find(shape(20, 32768));
  BOOST_TEST(name(answer.source) == "interpolated");
  BOOST_TEST(answer.config.splits == 19);
}

BOOST_AUTO_TEST_CASE(of_two_winners_that_hold_the_better_one_at_its_worst_is_answered) {
  TunedDatabase database(path);
  database.add_winner(shape(16, 32768), with_splits(8), 0.03);
  database.add_winner(shape(24, 32768), kTuned, 0.02);
  database.add_loss(shape(16, 32768), kTuned, -0.019);
  database.add_loss(shape(24, 32768), with_splits(8), -0.016);
  BOOST_CHECK(find(shape(20, 32768)).config.wait == Wait::kPartial);
}

BOOST_AUTO_TEST_CASE(shapes_that_all_keep_the_default_say_so_between_them) {
  {
    TunedDatabase database(path);
    database.add_verdict(shape(16, 32768), db::Verdict::kDefaultBest);
    database.add_verdict(shape(24, 32768), db::Verdict::kUndecided);
  }
  const Answer answer = find(shape(20, 32768));
  BOOST_TEST(name(answer.source) == "interpolated");
  BOOST_TEST(answer.reason == "default is best at the tuned shapes around this one");
  BOOST_TEST(to_text(answer.config) == to_text(DefaultPolicy(space)(shape(20, 32768))));
}

BOOST_AUTO_TEST_CASE(a_far_key_is_refused) {
  write_grid();
  for (const auto& [batch, seq_len] : {std::pair(12, 45000), {32, 45000}, {20, 20000}, {20, 99000}})
    check_refused(shape(batch, seq_len), "shape not tuned");
  {
    TunedDatabase database(path);
    database.add_winner(shape(1, 4096), kTuned);
    database.add_winner(shape(4, 4096), kTuned);
  }
  check_refused(shape(2, 4096), "too far from the tuned shapes");
}

BOOST_AUTO_TEST_CASE(another_head_count_page_size_or_kind_of_batch_is_refused) {
  write_grid();
  std::vector<Problem> others(4, shape(20, 45000));
  others[0].nhead = 16;
  others[1].page_size = 64;
  others[2].imbalance = 2;
  others[3].q_len = 2;
  for (const Problem& problem : others) check_refused(problem, "shape not tuned");
}

BOOST_AUTO_TEST_CASE(the_pocket_of_few_waves_and_few_trips_is_refused) {
  TunedDatabase database(path);
  // 8 x 32 workgroups are one full wave, where the nearest measured shape had one and a half.
  for (const int batch : {5, 12}) database.add_winner(shape(batch, 68000), with_splits(32));
  check_refused(shape(8, 68000), "other waves or trips than at the nearest tuned shape");
  // 71 blocks on 64 splits are two trips, where the nearest measured shape had one.
  for (const int64_t seq_len : {4096, 8192})
    database.add_winner(shape(3, seq_len), with_splits(64));
  check_refused(shape(3, 4500), "other waves or trips than at the nearest tuned shape");
}

BOOST_AUTO_TEST_CASE(just_past_a_full_wave_is_refused) {
  TunedDatabase database(path);
  for (const int batch : {24, 40}) database.add_winner(shape(batch, 68000), kTuned);
  check_refused(shape(33, 68000), "just past a full wave of workgroups, not measured here");
  BOOST_TEST(name(find(shape(30, 68000)).source) == "interpolated");
}

BOOST_AUTO_TEST_CASE(a_winner_that_loses_at_a_neighbour_is_refused) {
  write_grid();
  TunedDatabase database(path);
  for (const double loss : {0.001, 0.006}) {
    database.add_verdict(shape(24, 65536), db::Verdict::kDefaultBest);
    database.add_loss(shape(24, 65536), kTuned, loss);
    check_refused(shape(20, 45000),
                  "the winners around this shape lose to the default at a neighbour");
    BOOST_TEST(name(find(shape(20, 32768)).source) == "interpolated");
  }
}

BOOST_AUTO_TEST_CASE(a_winner_that_gains_little_at_a_neighbour_is_refused) {
  write_grid();
  TunedDatabase database(path);
  database.add_verdict(shape(24, 65536), db::Verdict::kDefaultBest);
  database.add_loss(shape(24, 65536), kTuned, -0.014);
  check_refused(shape(20, 45000), "the winners around this shape gain too little where measured");
  database.add_loss(shape(24, 65536), kTuned, -0.016);
  BOOST_TEST(name(find(shape(20, 45000)).source) == "interpolated");
}

// 66 splits of one request of 8 heads held at 4,096 rows (two blocks each, as the default's) and at
// 8,192 (four to three), and were 6 % slower at 4,744: three to two.
BOOST_AUTO_TEST_CASE(a_winner_that_walks_longer_than_at_any_corner_is_refused) {
  DeviceInfo h200;
  BOOST_TEST_REQUIRE(known_device("H200", &h200));
  const Space there = make_space(h200);
  const DefaultPolicy policy(there);
  const auto blocks = [&](int64_t seq_len, int32_t splits) { return trips(seq_len, splits, 32); };
  const auto default_splits = [&](int64_t seq_len) { return policy(shape(1, seq_len, 8)).splits; };
  BOOST_TEST_REQUIRE(blocks(4744, default_splits(4744)) == 2);
  BOOST_TEST_REQUIRE(blocks(4744, 66) == 3);
  BOOST_TEST_REQUIRE(blocks(8192, default_splits(8192)) == 3);
  {
    TunedDatabase database(path, h200);
    for (const int64_t seq_len : {4096, 8192})
      database.add_winner(shape(1, seq_len, 8), "splits=66 stage2_tiles=8 stage2_warps=16");
  }
  const LookupTable table({path}, there);
  const Answer answer = table.find(shape(1, 4744, 8));
  BOOST_TEST(name(answer.source) == "default");
  BOOST_TEST(answer.reason == "a longer walk against the default's than where it was measured");
  BOOST_TEST(name(table.find(shape(1, 7000, 8)).source) == "interpolated");
}

BOOST_AUTO_TEST_CASE(a_winner_never_measured_at_a_neighbour_is_refused) {
  const std::string reason = "the winners around this shape were not measured at their neighbours";
  write_grid();
  // A new tuning of the shape: the loss belongs to the old one.
  TunedDatabase database(path);
  database.add_verdict(shape(24, 65536), db::Verdict::kDefaultBest);
  check_refused(shape(20, 45000), reason);
  database.add_loss(shape(24, 65536), kTuned, 0, 0, 0);  // failed: of no rounds
  check_refused(shape(20, 45000), reason);
}

BOOST_AUTO_TEST_CASE(a_winner_or_loss_within_the_noise_is_refused) {
  const std::string reason =
      "the winners around this shape are within the noise of their measurement";
  write_grid(0.02, 0.08);
  check_refused(shape(20, 32768), reason);
  write_grid();
  TunedDatabase database(path);
  database.add_verdict(shape(24, 65536), db::Verdict::kDefaultBest);
  database.add_loss(shape(24, 65536), kTuned, 0.001, 0.02);
  check_refused(shape(20, 45000), reason);
}

// Short launches are noisy, and their gains the largest.
BOOST_AUTO_TEST_CASE(a_loss_measured_in_noise_counts_where_it_is_a_gain_above_the_noise) {
  write_grid();
  TunedDatabase database(path);
  database.add_verdict(shape(24, 65536), db::Verdict::kDefaultBest);
  database.add_loss(shape(24, 65536), kTuned, -0.03, 0.02);
  BOOST_TEST(name(find(shape(20, 45000)).source) == "interpolated");
  database.add_loss(shape(24, 65536), kTuned, -0.001, 0.02);
  check_refused(shape(20, 45000),
                "the winners around this shape are within the noise of their measurement");
}

BOOST_AUTO_TEST_CASE(a_stale_row_is_refused_around_its_shape) {
  write_grid();
  TunedDatabase(path).add(shape(16, 32768), kTuned, db::WinnerStatus::kVerifyAgain);
  check_refused(shape(20, 32768), "the tuned shapes around this one have to be verified again");
  check_refused(shape(16, 33000), "the tuned lengths of this bucket have to be verified again");
  BOOST_TEST(name(find(shape(16, 32768)).source) == "exact");
}

BOOST_AUTO_TEST_CASE(a_demoted_or_failed_shape_is_refused_around_it) {
  const std::string reason = "a tuned shape around this one has no sure answer";
  write_grid();
  TunedDatabase database(path);
  database.add(shape(16, 32768), kTuned, db::WinnerStatus::kDemoted);
  check_refused(shape(20, 32768), reason);
  database.add_verdict(shape(16, 32768), db::Verdict::kFailed);
  check_refused(shape(20, 32768), reason);
}

BOOST_AUTO_TEST_CASE(a_row_whose_variant_no_longer_exists_is_refused_around_it) {
  write_grid();
  execute("UPDATE candidate SET variant = 'bh0' WHERE splits = 8 AND wait = 'partial'");
  check_refused(shape(16, 32768), "shape not tuned");
  check_refused(shape(20, 32768), "shape not tuned");
}

BOOST_AUTO_TEST_CASE(rows_of_another_compute_unit_count_are_refused) {
  write_grid();
  DeviceInfo fewer = mi355x();
  fewer.compute_units = 228;
  space = make_space(fewer);
  check_refused(shape(20, 32768), "shape not tuned");
}

BOOST_AUTO_TEST_CASE(a_gain_over_another_baseline_or_default_is_refused) {
  const std::string reason = "a tuned shape around this one has no sure answer";
  write_grid();
  execute("UPDATE winner SET reference = 'drained' WHERE id = 1");
  check_refused(shape(20, 32768), reason);
  execute("UPDATE winner SET reference = 'default', default_id = config_id WHERE id = 1");
  check_refused(shape(20, 32768), reason);
}

BOOST_AUTO_TEST_CASE(the_workspace_bound_covers_answers_between_shapes) {
  {
    TunedDatabase database(path);
    for (const int batch : {16, 24}) database.add_winner(shape(batch, 65536), with_splits(40));
  }
  const LookupTable table({path}, space);
  for (int32_t batch = 16; batch <= 24; ++batch) {
    const KernelConfig config = table.find(shape(batch, 65536)).config;
    BOOST_TEST(table.workspace_bound(batch, 1, 12) >= workspace_bytes(batch, 1, 12, config.splits));
  }
  BOOST_TEST(table.find(shape(20, 65536)).config.splits == 40);
}

BOOST_AUTO_TEST_SUITE_END()

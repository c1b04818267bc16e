// SPDX-License-Identifier: MIT
// Lengths that share a bucket with tuned ones: when the winner there is carried to them.
#define BOOST_TEST_MODULE bucketed
#include <SQLiteCpp/SQLiteCpp.h>

#include <boost/test/unit_test.hpp>

#include "kernels/partition.h"
#include "policy/wave_edge.h"
#include "tests/policy/lookup_fixture.h"

using namespace mla;
using namespace mla::policy;
using mla::testing::check_is_default;
using mla::testing::LookupFixture;
using mla::testing::shape;
using mla::testing::TunedDatabase;

BOOST_FIXTURE_TEST_SUITE(bucketed, LookupFixture)

BOOST_AUTO_TEST_CASE(another_length_of_the_bucket_is_answered_without_an_expected_time) {
  TunedDatabase(path()).add_winner(shape(16, 68000), "wait=partial");
  const LookupTable table({path()}, space);
  const Answer answer = table.find(shape(16, 66000));
  BOOST_TEST(name(answer.source) == "bucketed");
  BOOST_CHECK(answer.config.wait == Wait::kPartial);
  BOOST_TEST(answer.expected_us == 0.0f);
  check_is_default(
      table.find(shape(16, 90000)), default_config(shape(16, 90000)), "shape not tuned");
}

BOOST_AUTO_TEST_CASE(a_bucket_is_used_only_for_the_same_everything_else) {
  TunedDatabase(path()).add_winner(shape(16, 68000), "wait=partial");
  const LookupTable table({path()}, space);
  std::vector<Problem> others(7, shape(16, 66000));
  others[0].batch = 17;
  others[1].nhead = 16;
  others[2].q_len = 2;
  others[3].kv_dtype = KvDtype::kFp8;
  others[4].page_size = 64;
  others[5].imbalance = 2;
  others[6].pool = PoolClass::kLarge;
  for (const Problem& problem : others) {
    check_is_default(table.find(problem), default_config(problem), "shape not tuned");
  }
}

BOOST_AUTO_TEST_CASE(lengths_of_a_bucket_that_disagree_answer_the_default_between_them) {
  {
    TunedDatabase database(path());
    database.add_winner(shape(16, 68000), "wait=partial");
    database.add_winner(shape(16, 64000), "splits=8");
  }
  const LookupTable table({path()}, space);
  check_is_default(table.find(shape(16, 66000)),
                   default_config(shape(16, 66000)),
                   "tuned lengths of this bucket disagree");
  BOOST_TEST(name(table.find(shape(16, 68000)).source) == "exact");
  BOOST_TEST(table.find(shape(16, 64000)).config.splits == 8);
}

BOOST_AUTO_TEST_CASE(a_winner_beside_a_kept_default_disagrees_too) {
  {
    TunedDatabase database(path());
    database.add_winner(shape(16, 68000), "wait=partial");
    database.add_verdict(shape(16, 64000), db::Verdict::kDefaultBest);
  }
  const LookupTable table({path()}, space);
  BOOST_TEST(table.find(shape(16, 66000)).reason == "tuned lengths of this bucket disagree");
}

BOOST_AUTO_TEST_CASE(lengths_of_a_bucket_that_agree_answer_between_them) {
  {
    TunedDatabase database(path());
    database.add_winner(shape(16, 68000), "wait=partial");
    database.add_winner(shape(16, 64000), "wait=partial");
  }
  const LookupTable table({path()}, space);
  BOOST_TEST(name(table.find(shape(16, 66000)).source) == "bucketed");
}

BOOST_AUTO_TEST_CASE(a_bucketed_winner_just_past_a_full_wave_answers_the_default) {
  // 16 requests x 17 splits are 272 workgroups on 256 CUs: one wave and a sixteenth.
  TunedDatabase(path()).add_winner(shape(16, 68000), "splits=17");
  const LookupTable table({path()}, space);
  BOOST_TEST(table.find(shape(16, 68000)).config.splits == 17);
  check_is_default(table.find(shape(16, 66000)),
                   default_config(shape(16, 66000)),
                   "just past a full wave of workgroups, not measured here");
}

// One request of 128 heads in 2,066 rows was 3 % slower with the winner of 2,048: its splits of
// four blocks had got a fifth one, those of the default had not.
BOOST_AUTO_TEST_CASE(a_bucketed_winner_whose_splits_get_another_block_answers_the_default) {
  TunedDatabase(path()).add_winner(shape(16, 33 * 64), "splits=11");
  const LookupTable table({path()}, space);
  BOOST_TEST_REQUIRE(default_config(shape(16, 33 * 64)).splits == 16);  // at most 3 blocks each
  for (const int64_t seq_len : {32 * 64 + 1, 33 * 64 - 1}) {
    BOOST_TEST(name(table.find(shape(16, seq_len)).source) == "bucketed");
  }
  check_is_default(table.find(shape(16, 33 * 64 + 1)),
                   default_config(shape(16, 33 * 64 + 1)),
                   "a longer walk against the default's than where it was measured");
}

BOOST_AUTO_TEST_CASE(a_bucketed_winner_may_walk_longer_by_what_it_gains_at_least) {
  const Problem tuned = shape(16, 1393 * 64), longer = shape(16, 1408 * 64);
  for (const Problem& problem : {tuned, longer}) {
    BOOST_TEST_REQUIRE(default_config(problem).splits == 16);
    BOOST_TEST_REQUIRE(trips(problem.seq_len, 16, 64) == 88);
  }
  // In two waves, 70 blocks become 71 (1.4 % more), 56 become 57 (1.8 %).
  for (const auto& [splits, source] :
       {std::pair{"splits=20", "bucketed"}, {"splits=25", "default"}}) {
    const std::string file = path(splits);
    TunedDatabase(file).add_winner(tuned, splits);
    BOOST_TEST(name(LookupTable({file}, space).find(longer).source) == source);
  }
}

// Two requests of 128 heads in 2,220 rows were 9 % slower with the winner of 2,048, which had
// beaten a default of another kernel.
BOOST_AUTO_TEST_CASE(a_bucketed_winner_of_another_default_kernel_answers_the_default) {
  DeviceInfo h200;
  BOOST_TEST_REQUIRE(known_device("H200", &h200));
  const Space there = make_space(h200);
  const DefaultPolicy policy(there);
  Problem tuned = shape(2, 2048, 128), longer = shape(2, 2220, 128);
  BOOST_TEST_REQUIRE(bucket_key(tuned) == bucket_key(longer));
  BOOST_TEST_REQUIRE(policy(tuned).group_rows == 16);
  BOOST_TEST_REQUIRE(policy(longer).group_rows == 64);
  TunedDatabase(path(), h200).add_winner(tuned, "stage2_warps=16");
  const LookupTable table({path()}, there);
  BOOST_TEST(name(table.find(tuned).source) == "exact");
  check_is_default(table.find(longer),
                   policy(longer),
                   "the default here has another kernel than at the tuned length of this bucket");
}

// Two requests of 32 heads in 16,098 rows took 37 us with the winner of 16,384, 27 with the
// default.
BOOST_AUTO_TEST_CASE(a_bucketed_winner_of_other_row_groups_than_the_default_is_not_carried) {
  DeviceInfo h200;
  BOOST_TEST_REQUIRE(known_device("H200", &h200));
  const Space there = make_space(h200);
  const DefaultPolicy policy(there);
  const Problem tuned = shape(2, 16384, 32), shorter = shape(2, 16098, 32);
  BOOST_TEST_REQUIRE(policy(tuned).group_rows == 32);
  BOOST_TEST_REQUIRE(policy(shorter).group_rows == 32);
  TunedDatabase(path(), h200).add_winner(tuned, "splits=32 tile_n=32 group_rows=16");
  const LookupTable table({path()}, there);
  BOOST_TEST(table.find(tuned).config.group_rows == 16);
  check_is_default(table.find(shorter),
                   policy(shorter),
                   "the winner of this bucket has other row groups than the default");
}

BOOST_AUTO_TEST_CASE(a_bucketed_winner_that_gains_little_is_not_carried) {
  for (const double gain : {0.014, 0.016}) {
    const std::string file = path(std::to_string(gain));
    TunedDatabase(file).add_winner(shape(16, 68000), "wait=partial", gain);
    const LookupTable table({file}, space);
    BOOST_TEST(name(table.find(shape(16, 68000)).source) == "exact");
    const Answer carried = table.find(shape(16, 66000));
    BOOST_TEST(name(carried.source) == (gain < 0.015 ? "default" : "bucketed"));
    if (gain < 0.015) BOOST_TEST(carried.reason == "the winner of this bucket gains too little");
  }
}

BOOST_AUTO_TEST_CASE(of_the_tuned_lengths_of_a_bucket_the_least_gain_and_the_shortest_walk_count) {
  const Problem shorter = shape(16, 33 * 64), longer = shape(16, 34 * 64);
  const Problem between = shape(16, 33 * 64 + 1);  // 11 splits walk 3 blocks, then 4
  for (const double gain : {0.014, 0.05}) {
    const std::string file = path("two" + std::to_string(gain));
    TunedDatabase database(file);
    database.add_winner(longer, "splits=11");
    BOOST_TEST(name(LookupTable({file}, space).find(between).source) == "bucketed");
    database.add_winner(shorter, "splits=11", gain);
    BOOST_TEST(LookupTable({file}, space).find(between).reason ==
               (gain < 0.015 ? "the winner of this bucket gains too little"
                             : "a longer walk against the default's than where it was measured"));
  }
}

BOOST_AUTO_TEST_CASE(a_bucketed_winner_over_another_default_than_the_live_one_is_not_carried) {
  TunedDatabase(path()).add_winner(shape(16, 68000), "wait=partial");
  SQLite::Database(path(), SQLite::OPEN_READWRITE).exec("UPDATE winner SET reference = 'drained'");
  check_is_default(LookupTable({path()}, space).find(shape(16, 66000)),
                   default_config(shape(16, 66000)),
                   "the winner of this bucket beat another default");
}

BOOST_AUTO_TEST_CASE(the_wave_edge_reaches_from_full_to_a_tenth_more_for_one_and_two_waves) {
  for (const int64_t k : {1, 2}) {
    BOOST_TEST(!past_wave_edge(k * 100, 100));
    BOOST_TEST(past_wave_edge(k * 100 + 1, 100));
    BOOST_TEST(past_wave_edge(k * 110, 100));
    BOOST_TEST(!past_wave_edge(k * 110 + 1, 100));
  }
  BOOST_TEST(!past_wave_edge(305, 100));
}

BOOST_AUTO_TEST_SUITE_END()

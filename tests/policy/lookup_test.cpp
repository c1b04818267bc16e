// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE lookup
#include "policy/lookup.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "db/fake_winners.h"
#include "db/snapshot.h"
#include "tests/policy/lookup_fixture.h"

using namespace mla;
using namespace mla::policy;
using mla::testing::check_is_default;
using mla::testing::LookupFixture;
using mla::testing::mi355x;
using mla::testing::shape;
using mla::testing::TunedDatabase;

BOOST_FIXTURE_TEST_SUITE(lookup, LookupFixture)

BOOST_AUTO_TEST_CASE(a_tuned_shape_is_answered_exactly_with_its_evidence) {
  TunedDatabase(path()).add_winner(shape(16, 68000), "wait=partial");
  const LookupTable table({path()}, space);
  BOOST_TEST(table.warnings().empty());
  BOOST_TEST(table.rows() == 1);
  const Answer answer = table.find(shape(16, 68000));
  BOOST_TEST(name(answer.source) == "exact");
  BOOST_CHECK(answer.config.wait == Wait::kPartial);
  BOOST_TEST(answer.config.splits == 16);
  BOOST_TEST(answer.gain == 0.05f);
  BOOST_TEST(answer.expected_us == 100.0f);
  BOOST_TEST(answer.winner_id == 1);
  BOOST_TEST(answer.database == path());
  BOOST_TEST(answer.reason == "tuned at this very shape");
}

BOOST_AUTO_TEST_CASE(default_is_best_is_an_answer) {
  TunedDatabase(path()).add_verdict(shape(8, 68000), db::Verdict::kDefaultBest);
  const LookupTable table({path()}, space);
  for (const int64_t seq_len : {68000, 66000}) {
    const Answer answer = table.find(shape(8, seq_len));
    BOOST_TEST(name(answer.source) == (seq_len == 68000 ? "exact" : "bucketed"));
    BOOST_TEST(answer.reason == "default is best here");
    BOOST_TEST(to_text(answer.config) == to_text(default_config(shape(8, seq_len))));
    BOOST_TEST(answer.gain == 0.0f);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_length_answers_the_default) {
  TunedDatabase(path()).add_winner(shape(16, 68000), "wait=partial");
  const LookupTable table({path()}, space);
  check_is_default(table.find(shape(16, 0)), default_config(shape(16, 68000)), "length unknown");
}

BOOST_AUTO_TEST_CASE(an_unknown_length_answers_the_plan_of_its_batch) {
  {
    TunedDatabase database(path());
    database.add_winner(shape(16, 0), "splits=40");
    database.add_winner(shape(16, 68000), "wait=partial");
    database.add_verdict(shape(24, 0), db::Verdict::kDefaultBest);
  }
  const LookupTable table({path()}, space);
  BOOST_TEST(table.warnings().empty());
  const Answer answer = table.find(shape(16, 0));
  BOOST_TEST(name(answer.source) == "robust");
  BOOST_TEST(answer.config.splits == 40);
  BOOST_TEST(answer.gain == 0.05f);
  BOOST_TEST(table.workspace_bound(16, 1, 12) >= workspace_bytes(16, 1, 12, 40));
  BOOST_TEST(name(table.find(shape(24, 0)).source) == "robust");
  BOOST_TEST(table.find(shape(24, 0)).reason == "default is best over the lengths measured");
  check_is_default(table.find(shape(17, 0)), default_config(shape(17, 0)), "length unknown");
  BOOST_TEST(table.find(shape(16, 68000)).config.splits == 16);
  BOOST_TEST(!table.find(shape(16, 0, 129)).shape_in_range);
}

BOOST_AUTO_TEST_CASE(a_demoted_row_answers_the_default_and_hides_the_file_below) {
  TunedDatabase(path("shipped.db")).add_winner(shape(16, 68000), "wait=partial");
  TunedDatabase(path("own.db")).add(shape(16, 68000), "wait=partial", db::WinnerStatus::kDemoted);
  const LookupTable table({path("shipped.db"), path("own.db")}, space);
  check_is_default(table.find(shape(16, 68000)),
                   default_config(shape(16, 68000)),
                   "demoted: the winner no longer holds here");
  BOOST_TEST(name(table.find(shape(16, 66000)).source) == "default");
}

BOOST_AUTO_TEST_CASE(a_row_to_verify_again_answers_and_says_so) {
  TunedDatabase(path()).add(shape(16, 68000), "wait=partial", db::WinnerStatus::kVerifyAgain);
  const LookupTable table({path()}, space);
  const Answer answer = table.find(shape(16, 68000));
  BOOST_TEST(name(answer.source) == "exact");
  BOOST_CHECK(answer.config.wait == Wait::kPartial);
  BOOST_TEST(std::string(answer.reason).find("verify again") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_shape_that_failed_answers_the_default) {
  TunedDatabase(path()).add_verdict(shape(16, 68000), db::Verdict::kFailed);
  const LookupTable table({path()}, space);
  check_is_default(table.find(shape(16, 68000)),
                   default_config(shape(16, 68000)),
                   "this shape could not be measured");
}

BOOST_AUTO_TEST_CASE(the_last_file_wins_and_names_itself) {
  {
    TunedDatabase shipped(path("shipped.db"));
    shipped.add_winner(shape(16, 68000), "wait=partial");
    shipped.add_winner(shape(24, 68000), "wait=partial");
  }
  TunedDatabase(path("own.db")).add_winner(shape(16, 68000), "splits=8");
  const LookupTable table({path("shipped.db"), path("own.db")}, space);
  BOOST_TEST(table.find(shape(16, 68000)).config.splits == 8);
  BOOST_TEST(table.find(shape(16, 68000)).database == path("own.db"));
  BOOST_TEST(table.find(shape(16, 68000)).database_index == 1);
  BOOST_TEST(table.find(shape(24, 68000)).database_index == 0);
  // The bucket follows the overlay: the shipped row it replaces does not count as disagreeing.
  BOOST_TEST(table.find(shape(16, 66000)).config.splits == 8);
}

BOOST_AUTO_TEST_CASE(rows_of_another_device_are_not_used) {
  DeviceInfo cpx = mi355x();
  cpx.compute_units = 32;
  cpx.xcds = 1;
  cpx.partition = "CPX";
  TunedDatabase(path(), cpx).add_winner(shape(16, 68000), "wait=partial");
  const LookupTable table({path()}, space);
  BOOST_TEST(table.rows() == 0);
  BOOST_TEST(name(table.find(shape(16, 68000)).source) == "default");
}

BOOST_AUTO_TEST_CASE(a_bad_file_is_one_warning_and_the_others_still_answer) {
  TunedDatabase(path("good.db")).add_winner(shape(16, 68000), "wait=partial");
  std::ofstream(path("bad.db")) << "this is not a database, whatever its name says";
  const LookupTable table({path("bad.db"), path("good.db"), path("missing.db")}, space);
  BOOST_TEST_REQUIRE(table.warnings().size() == 2u);
  BOOST_TEST(table.failed_files() == 2);
  BOOST_TEST(table.warnings()[0].find("bad.db") != std::string::npos);
  BOOST_TEST(table.warnings()[1].find("missing.db") != std::string::npos);
  BOOST_TEST(table.find(shape(16, 68000)).database_index == 1);
}

BOOST_AUTO_TEST_CASE(a_shape_out_of_range_gets_one_split_that_needs_no_workspace) {
  const LookupTable table({}, space);
  Problem problem = shape(-3, 68000);
  const Answer answer = table.find(problem);
  BOOST_TEST(!answer.shape_in_range);
  BOOST_TEST(answer.config.splits == 1);
  BOOST_TEST(answer.reason == "shape out of range");
  BOOST_TEST(table.find(shape(16, 0, 129)).shape_in_range == false);
}

BOOST_AUTO_TEST_CASE(the_workspace_bound_covers_the_default_and_every_row_and_grows) {
  TunedDatabase(path()).add_winner(shape(40, 68000, 64), "splits=300");
  const LookupTable table({path()}, space);
  const int64_t tuned = workspace_bytes(40, 1, 64, 300);
  BOOST_TEST(table.workspace_bound(39, 8, 128) < tuned);
  BOOST_TEST(table.workspace_bound(40, 1, 64) == tuned);
  int64_t before = 0;
  for (int32_t batch = 1; batch <= 300; ++batch) {
    const int64_t bound = table.workspace_bound(batch, 2, 48);
    BOOST_TEST(bound >= before);
    const KernelConfig config = DefaultPolicy(space)(shape(batch, 68000, 48));
    BOOST_TEST(bound >= workspace_bytes(batch, 1, 48, config.splits));
    before = bound;
  }
}

// Splits x query rows of the default are most where its row groups are full: an H200 cuts 64 rows
// 132 times and 96 rows 66 times.
BOOST_AUTO_TEST_CASE(the_workspace_bound_is_the_most_that_the_default_needs_at_any_smaller_shape) {
  DeviceInfo host, h200;
  host.arch = "x86-64";
  host.compute_units = 64;
  BOOST_REQUIRE(known_device("H200", &h200));
  for (const DeviceInfo& device : {host, mi355x(), h200}) {
    const Space space = make_space(device);
    const DefaultPolicy default_policy(space);
    const LookupTable table({}, space);
    for (const int32_t most_heads : {17, 20, 96, 128}) {
      int64_t most_bytes = 0;
      for (int32_t batch = 1; batch <= 6; ++batch) {
        for (int32_t nhead = 1; nhead <= most_heads; ++nhead) {
          for (const KvDtype dtype : {KvDtype::kBf16, KvDtype::kFp8}) {
            Problem problem = shape(batch, 68000, nhead);
            problem.kv_dtype = dtype;
            const int32_t splits = default_policy.most_splits(problem);
            most_bytes = std::max(most_bytes, workspace_bytes(batch, 1, nhead, splits));
          }
        }
        BOOST_TEST(table.workspace_bound(batch, 1, most_heads) == most_bytes,
                   device.arch << " batch " << batch << " heads " << most_heads);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_row_of_a_generated_database_is_found_and_costs_at_most_200_bytes) {
  db::write_fake_winners(path(), mi355x(), 20'000, 7);
  const LookupTable table({path()}, space);
  BOOST_TEST(table.rows() == 20'000);
  BOOST_TEST(static_cast<double>(table.memory_bytes()) <= 200.0 * 20'000);
  std::vector<db::SnapshotRow> rows;
  db::load_snapshot(path(), space, {[&](const db::SnapshotRow& row) { rows.push_back(row); }});
  const bool all_found = std::all_of(rows.begin(), rows.end(), [&](const db::SnapshotRow& row) {
    const Answer answer = table.find(row.problem);
    return answer.source == Source::kExact && answer.config == row.config &&
           answer.winner_id == row.winner_id && answer.gain == row.gain;
  });
  BOOST_TEST(all_found);
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE prune
#include "db/prune.h"

#include <boost/test/unit_test.hpp>

#include "db/winner_text.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

// Batch 8 tuned twice, batch 4 once with two winners, batch 16 not finished.
struct Fixture {
  Fixture() {
    Store store = Store::open(path, OpenMode::kReadWrite);
    tune(&store, 8, 7);
    tune(&store, 8, 8);
    store.finish_tuning(tune(&store, 4, 7), sample_winner(sample_problem(4), base));
    store.save_round(open(&store, 16, 7), sample_round(0, 6, base));
  }

  int64_t open(Store* store, int32_t batch, uint64_t seed) {
    TuningKey key = sample_key(batch);
    key.seed = seed;
    return store->open_tuning(store->begin_run(sample_run()), key).id;
  }

  int64_t tune(Store* store, int32_t batch, uint64_t seed) {
    const int64_t id = open(store, batch, seed);
    store->save_round(id, sample_round(0, 8, base));
    store->save_outcome(id, {base, {OutcomeKind::kFault, "signal 11"}, 1});
    WinnerRecord winner = sample_winner(sample_problem(batch), base);
    winner.gain = 0.01 * static_cast<double>(seed);
    store->finish_tuning(id, winner);
    return id;
  }

  DatabaseInfo info() const { return Store::open(path, OpenMode::kReadOnly).info(); }
  std::string exported() const { return export_winners(Store::open(path, OpenMode::kReadOnly)); }

  TemporaryDirectory directory;
  const std::string path = directory.file("tuning.db");
  const KernelConfig base = make_space(sample_device()).neutral();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pruning, Fixture)

BOOST_AUTO_TEST_CASE(what_no_current_answer_rests_on_goes_and_the_answers_stay) {
  const std::string before = exported();
  const Pruned pruned = prune(path, false);
  BOOST_TEST(pruned.tunings == 1);
  BOOST_TEST(pruned.winners == 2);
  BOOST_TEST(pruned.rounds == 1);
  BOOST_TEST(pruned.samples == 8);
  BOOST_TEST(exported() == before);
  const DatabaseInfo left = info();
  BOOST_TEST(left.tunings == 3);
  BOOST_TEST(left.tunings_open == 1);  // a run can go on with it
  BOOST_TEST(left.winners == 2);
  BOOST_TEST(left.rounds == 3);
  BOOST_TEST(left.runs == 3);
  for (const Store::CheckRow& row : Store::open(path, OpenMode::kReadOnly).check()) {
    BOOST_TEST(row.ok, row.check << ": " << row.detail);
  }
}

BOOST_AUTO_TEST_CASE(a_dry_run_says_the_same_and_removes_nothing) {
  const DatabaseInfo before = info();
  const Pruned pruned = prune(path, true);
  BOOST_TEST(pruned.winners == 2);
  BOOST_TEST(pruned.samples == 8);
  BOOST_TEST(info().winners == before.winners);
  BOOST_TEST(info().samples == before.samples);
}

BOOST_AUTO_TEST_CASE(pruning_again_finds_nothing) {
  prune(path, false);
  const Pruned again = prune(path, false);
  BOOST_TEST(again.tunings == 0);
  BOOST_TEST(again.winners == 0);
  BOOST_TEST(again.samples == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: MIT
// A whole session over a worker process whose candidates misbehave in every way at once.
#define BOOST_TEST_MODULE worker_session
#include <boost/test/unit_test.hpp>
#include <map>

#include "db/store.h"
#include "policy/default_policy.h"
#include "tests/support/temporary_directory.h"
#include "tuner/session.h"
#include "tuner/worker_source.h"

namespace mla::tuner {
namespace {

// Generous for a busy machine; the one hang that is waited for is in a sample.
constexpr WorkerLimits kLimits{60, 60, 1e9, 5, 50};

BOOST_AUTO_TEST_CASE(every_kind_of_failure_is_a_row_and_the_best_of_the_rest_wins) {
  WorkerSource source(MLA_TEST_WORKER,
                      "faulty:crash.run@splits=2,wrong@splits=3,nan@splits=5,crash.time@splits=6,"
                      "hang.time@splits=12:fake",
                      kLimits);
  const Problem problem = parse_problem("batch=1 nhead=2 seq_len=1024");
  const KernelConfig base = policy::DefaultPolicy(source.space())(problem);
  BOOST_REQUIRE(base.splits == 4);
  const auto with_splits = [&base](int32_t splits) {
    KernelConfig config = base;
    config.splits = splits;
    return config;
  };

  SessionOptions options;
  for (const int32_t splits : {2, 3, 5, 6, 8, 12}) options.only.push_back(with_splits(splits));
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  const std::atomic<bool> stop{false};
  const SessionResult result = run_session(
      source, &store, db::RunInfo{}, {problem}, options, [](const ProgressEvent&) {}, stop);

  BOOST_REQUIRE(result.shapes.size() == 1u);
  BOOST_TEST((result.shapes[0].status == ShapeStatus::kDone), result.shapes[0].text);
  const db::WinnerRecord& winner = result.shapes[0].winner;
  BOOST_TEST((winner.config == with_splits(8)), to_text(winner.config));
  BOOST_TEST((winner.verdict == db::Verdict::kFaster));
  BOOST_TEST(winner.configs_failed == 5);

  std::map<int32_t, db::OutcomeRecord> outcomes;
  for (const db::OutcomeRecord& row : store.load_outcomes(store.summaries().at(0).tuning_id)) {
    outcomes[row.config.splits] = row;
  }
  const std::map<int32_t, OutcomeKind> expected = {{2, OutcomeKind::kQuarantined},
                                                   {3, OutcomeKind::kWrong},
                                                   {5, OutcomeKind::kNonFinite},
                                                   {6, OutcomeKind::kFault},
                                                   {12, OutcomeKind::kHang}};
  for (const auto& [splits, kind] : expected) {
    BOOST_TEST((outcomes[splits].outcome.kind == kind),
               "splits=" << splits << ": " << name(outcomes[splits].outcome.kind));
  }
  BOOST_TEST(outcomes[2].crashes == 2);
}

}  // namespace
}  // namespace mla::tuner

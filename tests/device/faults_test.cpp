// SPDX-License-Identifier: MIT
// A tuning session on the GPU over candidates that fault and hang there.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "db/store.h"
#include "policy/default_policy.h"
#include "tests/support/temporary_directory.h"
#include "tuner/session.h"
#include "tuner/worker_source.h"

using namespace mla;

namespace {

// A spinning kernel is waited for in one sample: 3 s.
constexpr tuner::WorkerLimits kLimits{60, 60, 1e9, 3, 50};

tuner::WorkerSource faulty_gpu(const std::string& rules) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  return tuner::WorkerSource(self, "faulty:" + rules + ":hip:0", kLimits);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(candidates_that_fault_or_hang_are_rows_and_the_others_are_measured) {
  tuner::WorkerSource source = faulty_gpu(
      "illegal.run@splits=2,illegal.time@splits=3,"
      "spin.time@splits=5");
  const Problem problem = parse_problem("batch=2 nhead=12 seq_len=4096");
  const KernelConfig base = policy::DefaultPolicy(source.space())(problem);
  tuner::SessionOptions options;
  for (const int32_t splits : {2, 3, 5, 8, 16, 33}) {
    options.only.push_back(base);
    options.only.back().splits = splits;
  }
  const testing::TemporaryDirectory directory;
  db::Store store = db::Store::open(directory.file("tuning.db"), db::OpenMode::kReadWrite);
  const std::atomic<bool> stop{false};
  const tuner::SessionResult result = tuner::run_session(
      source, &store, db::RunInfo{}, {problem}, options, [](const tuner::ProgressEvent&) {}, stop);

  BOOST_REQUIRE(result.shapes.size() == 1u);
  BOOST_TEST((result.shapes[0].status == tuner::ShapeStatus::kDone), result.shapes[0].text);
  BOOST_TEST(result.shapes[0].winner.configs_failed == 3);
  const int64_t tuning = store.summaries().at(0).tuning_id;
  std::map<int32_t, db::OutcomeRecord> outcomes;
  for (const db::OutcomeRecord& row : store.load_outcomes(tuning)) {
    outcomes[row.config.splits] = row;
  }
  BOOST_TEST((outcomes[2].outcome.kind == OutcomeKind::kQuarantined), outcomes[2].outcome.text);
  BOOST_TEST(outcomes[2].crashes == 2);
  BOOST_TEST((outcomes[3].outcome.kind == OutcomeKind::kFault), outcomes[3].outcome.text);
  BOOST_TEST(contains(outcomes[3].outcome.text, "IllegalAddress"), outcomes[3].outcome.text);
  BOOST_TEST((outcomes[5].outcome.kind == OutcomeKind::kHang), outcomes[5].outcome.text);

  std::set<int32_t> measured;
  for (const db::RoundRecord& round : store.load_rounds(tuning)) {
    for (const auto& sample : round.samples) {
      if (sample.time_us > 0) measured.insert(sample.config.splits);
    }
  }
  for (const int32_t splits : {8, 16, 33}) BOOST_TEST(measured.count(splits) == 1u, splits);
}

BOOST_AUTO_TEST_SUITE_END()

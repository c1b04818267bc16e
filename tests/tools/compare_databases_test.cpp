// SPDX-License-Identifier: MIT
// `mla-tune compare`: the five verdicts on rows made for them, the formats, and the exit status.
#define BOOST_TEST_MODULE tools_compare_databases
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"
#include "tools/compare_databases.h"

using namespace mla;
using namespace mla::testing;
using namespace mla::tools;
using Json = nlohmann::json;

namespace {

// One tuned shape with a winner whose times and gains are given, and its final rounds.
struct Row {
  int32_t batch = 1;
  double default_us = 100;
  double gain = 0.1, gain_low = 0.09, gain_high = 0.11;
  double spread_us = 0.5;  // of the answer's own samples, either side
  bool rounds = true;
  std::string code = "code 4";
  db::Verdict verdict = db::Verdict::kFaster;
};

KernelConfig answer_config() {
  KernelConfig config;
  config.splits = 8;
  return config;
}

db::RoundRecord final_round(int32_t index, const Row& row, double answer_us) {
  db::RoundRecord round;
  round.phase = db::Phase::kFinal;
  round.round = index;
  const double offset = row.spread_us * (index % 3 - 1);
  round.samples.push_back({KernelConfig{}, 0, "default", row.default_us, OutcomeKind::kOk});
  round.samples.push_back({answer_config(), 1, "candidate", answer_us + offset, OutcomeKind::kOk});
  return round;
}

void add(db::Store* store, const Row& row) {
  db::TuningKey key = sample_key(row.batch);
  key.environment.code_hash = row.code;
  const int64_t tuning = store->open_tuning(store->begin_run(sample_run()), key).id;
  db::WinnerRecord winner;
  winner.problem = key.problem;
  winner.config = answer_config();
  winner.finalist = answer_config();
  winner.verdict = row.verdict;
  winner.gain = row.gain;
  winner.gain_low = row.gain_low;
  winner.gain_high = row.gain_high;
  winner.default_us = row.default_us;
  winner.expected_us = row.default_us / (1 + row.gain);
  winner.p_value = 0;
  if (row.rounds) {
    winner.rounds = winner.wins = 15;
    for (int32_t i = 0; i < 15; ++i) {
      store->save_round(tuning, final_round(i, row, winner.expected_us));
    }
  }
  store->finish_tuning(tuning, winner);
}

struct Databases {
  std::string file(const std::string& name) const { return directory.file(name); }

  std::string make(const std::string& name, const std::vector<Row>& rows) {
    db::Store store = db::Store::open(file(name), db::OpenMode::kReadWrite);
    for (const Row& row : rows) add(&store, row);
    return file(name);
  }

  ShapeChange change(const Row& before, const Row& after) {
    const std::string a = make("a.db", {before});
    const std::string b = make("b.db", {after});
    const DatabaseChanges changes = compare_databases(db::Store::open(a, db::OpenMode::kReadOnly),
                                                      db::Store::open(b, db::OpenMode::kReadOnly));
    BOOST_TEST_REQUIRE(changes.shapes.size() == 1U);
    return changes.shapes.front();
  }

  TemporaryDirectory directory;
};

bool is(const ShapeChange& change, std::string_view verdict, const std::string& evidence) {
  return mark(change.verdict) == verdict && evidence_text(change) == evidence;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(compare, Databases)

BOOST_AUTO_TEST_CASE(equal_gains_are_the_same_whatever_the_clocks_were) {
  BOOST_TEST(is(change({}, {.default_us = 130}), "SAME", "paired"));
}

BOOST_AUTO_TEST_CASE(a_gain_that_shrank_beyond_both_intervals_is_slow) {
  const ShapeChange lost = change({}, {.gain = 0.05, .gain_low = 0.045, .gain_high = 0.055});
  BOOST_TEST(is(lost, "SLOW", "paired"));
  BOOST_TEST(lost.change == 1.05 / 1.1 - 1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(lost.low == 1.045 / 1.11 - 1, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_gain_that_grew_beyond_both_intervals_is_fast) {
  BOOST_TEST(
      is(change({.gain = 0.05, .gain_low = 0.045, .gain_high = 0.055}, {}), "FAST", "paired"));
}

BOOST_AUTO_TEST_CASE(intervals_that_overlap_are_ambiguous) {
  BOOST_TEST(is(change({}, {.gain = 0.08, .gain_low = 0.05, .gain_high = 0.12}), "AMBG", "paired"));
}

BOOST_AUTO_TEST_CASE(other_kernel_code_is_judged_by_the_times) {
  const ShapeChange slower = change({}, {.default_us = 110, .code = "code 5"});
  BOOST_TEST(is(slower, "SLOW", "times"));
  BOOST_TEST_REQUIRE(slower.environment.size() == 1U);
  BOOST_TEST(slower.environment.front() == "kernel code: code 4 -> code 5");
}

BOOST_AUTO_TEST_CASE(times_that_scatter_over_each_other_are_ambiguous) {
  BOOST_TEST(is(change({.spread_us = 9}, {.default_us = 103, .spread_us = 9, .code = "code 5"}),
                "AMBG",
                "times"));
}

BOOST_AUTO_TEST_CASE(a_row_without_rounds_is_the_same_or_ambiguous_and_no_more) {
  BOOST_TEST(is(change({.rounds = false}, {}), "SAME", "medians"));
}

BOOST_AUTO_TEST_CASE(a_difference_to_a_row_without_rounds_is_ambiguous) {
  BOOST_TEST(is(change({.rounds = false}, {.default_us = 150}), "AMBG", "medians"));
}

BOOST_AUTO_TEST_CASE(a_shape_that_failed_on_one_side_is_unknown) {
  BOOST_TEST(is(change({}, {.verdict = db::Verdict::kFailed}), "????", "not measured after"));
}

BOOST_AUTO_TEST_CASE(shapes_of_one_side_only_are_unknown_and_slow_ones_come_first) {
  const std::string a = make("a.db", {{.batch = 1}, {.batch = 2}, {.batch = 8}});
  const std::string b =
      make("b.db", {{.batch = 2}, {.batch = 8, .gain = 0, .gain_low = 0, .gain_high = 0}});
  const Json json = Json::parse(run({"compare", a, b, "--json"}).out);
  BOOST_TEST(json["schema_version"] == 1);
  BOOST_TEST(json["counts"]["slow"] == 1);
  BOOST_TEST(json["counts"]["unknown"] == 1);
  BOOST_TEST(json["counts"]["same"] == 1);
  BOOST_TEST(json["shapes"][0]["verdict"] == "slow");
  BOOST_TEST(json["shapes"][0]["problem"]["batch"] == 8);
  BOOST_TEST(json["shapes"][1]["evidence"] == "not tuned after");
  BOOST_TEST(json["shapes"][1]["change"].is_null());
}

BOOST_AUTO_TEST_CASE(the_exit_status_is_0_unless_a_verdict_of_fail_on_occurs) {
  const std::string a = make("a.db", {{}});
  const std::string b = make("b.db", {{.gain = 0, .gain_low = 0, .gain_high = 0}});
  BOOST_TEST(run({"compare", a, b}).status == 0);
  BOOST_TEST(run({"compare", a, b, "--fail-on", "slow,ambiguous"}).status == 1);
  BOOST_TEST(run({"compare", a, b, "--fail-on", "ambiguous,unknown"}).status == 0);
  BOOST_TEST(run({"compare", a, a, "--fail-on", "slow,ambiguous"}).status == 0);
}

BOOST_AUTO_TEST_CASE(text_and_markdown_have_the_verdict_of_every_shape) {
  const std::string a = make("a.db", {{}});
  const std::string b = make("b.db", {{.gain = 0, .gain_low = 0, .gain_high = 0}});
  const std::string text = run({"compare", a, b}).out;
  BOOST_TEST(text.find("SLOW     -9.09% (-9.91..-8.26)") != std::string::npos, text);
  BOOST_TEST(text.find("1 SLOW, 0 AMBG, 0 ????, 0 FAST, 0 SAME; geomean -9.09% over 1 shapes\n") !=
                 std::string::npos,
             text);
  BOOST_TEST(run({"compare", a, b, "-o", "-"}).out == text);
  BOOST_TEST(!std::filesystem::exists("-"));
  const std::string markdown = run({"compare", a, b, "--markdown"}).out;
  BOOST_TEST(markdown.find("| SLOW | -9.09% (-9.91..-8.26) |") != std::string::npos, markdown);
}

BOOST_AUTO_TEST_CASE(both_databases_have_to_be_named_and_to_exist) {
  BOOST_TEST(run({"compare", "a.db"}).err == "mla-tune compare: needs BEFORE AFTER\n");
  BOOST_TEST(run({"compare", "a.db", "b.db", "c.db"}).err ==
             "mla-tune compare: unexpected argument 'c.db'; see mla-tune compare --help\n");
  BOOST_TEST(run({"compare", file("none.db"), file("none.db")}).status == 4);
  BOOST_TEST(run({"compare", "a.db", "b.db", "--fail-on", "slower"}).status == 2);
}

BOOST_AUTO_TEST_SUITE_END()

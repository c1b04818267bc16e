// SPDX-License-Identifier: MIT
// Tables, numbers for people, shape grids and progress lines.
#define BOOST_TEST_MODULE tools_text
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <memory>

#include "kernels/error.h"
#include "tools/grid.h"
#include "tools/progress.h"
#include "tools/results.h"

namespace {

using namespace mla;
using namespace mla::tools;

struct Captured {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};

  std::string text() const {
    std::string out;
    std::rewind(file.get());
    for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) {
      out += static_cast<char>(c);
    }
    return out;
  }
};

tuner::ProgressEvent event(tuner::ProgressEvent::Kind kind, double elapsed_s) {
  tuner::ProgressEvent event;
  event.kind = kind;
  event.shapes = 12;
  event.done = 412;
  event.total = 1096;
  event.failed = 7;
  event.best_us = 611.9;
  event.gain = 0.21;
  event.elapsed_s = elapsed_s;
  event.eta_low_s = 70;
  event.eta_high_s = 95;
  return event;
}

using Kind = tuner::ProgressEvent::Kind;

}  // namespace

BOOST_AUTO_TEST_CASE(a_table_aligns_its_columns_and_leaves_no_trailing_blanks) {
  Table table;
  table.column("name");
  table.column("us", Table::Align::kRight);
  table.row({"a", "1.0"});
  table.row({"longer", "123.0"});
  BOOST_TEST(table.text(Terminal{}) == "name       us\na         1.0\nlonger  123.0\n");
}

BOOST_AUTO_TEST_CASE(colour_is_put_on_only_where_the_terminal_has_it) {
  Terminal terminal;
  BOOST_TEST(paint(terminal, Style::kGood, "x") == "x");
  terminal.color = true;
  BOOST_TEST(paint(terminal, Style::kGood, "x") == "\033[32mx\033[0m");
}

BOOST_AUTO_TEST_CASE(numbers_read_well) {
  BOOST_TEST(duration_text(48) == "48s");
  BOOST_TEST(duration_text(70) == "1m10s");
  BOOST_TEST(duration_text(7500) == "2h05m");
  BOOST_TEST(bytes_text(1536) == "1.5 KiB");
  BOOST_TEST(count_text(3288) == "3,288");
  BOOST_TEST(count_text(-1234567) == "-1,234,567");
  BOOST_TEST(percent_text(0.105) == "+10.50%");
  BOOST_TEST(time_text(0.95, true) == "0.9500 rel");
  BOOST_TEST(time_text(0, false) == "-");
  BOOST_TEST(eta_text(70, 95) == "1m10s-1m35s");
}

BOOST_AUTO_TEST_CASE(a_log_gets_one_plain_progress_line_every_ten_seconds) {
  Captured captured;
  RunProgress progress(captured.file.get(), Terminal{}, {});
  for (int second = 0; second <= 20; ++second) progress.on_event(event(Kind::kRound, second));
  const std::string line =
      "progress done=412 total=1096 failed=7 problem=1/12 best_us=611.9 gain=0.2100 eta_s=70..95\n";
  BOOST_TEST(captured.text() == line + line + line);
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_a_line_that_is_rewritten_and_taken_away) {
  Captured captured;
  Terminal terminal;
  terminal.live = true;
  terminal.width = 200;
  RunProgress progress(captured.file.get(), terminal, {});
  progress.on_event(event(Kind::kRound, 1));
  progress.clear();
  const std::string text = captured.text();
  BOOST_TEST(text.find("\r\033[K [######----------]  412/1096  fail 7  shape 1/12") == 0U, text);
  BOOST_TEST(text.find("ETA 1m10s-1m35s\r\033[K") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(failures_are_counted_by_kind_and_the_first_of_each_is_shown) {
  Captured captured;
  RunProgress progress(captured.file.get(), Terminal{}, {.lines = false});
  for (int i = 0; i < 3; ++i) {
    tuner::ProgressEvent failed = event(Kind::kAdmitFailed, i);
    failed.outcome = {OutcomeKind::kWrong, "error " + std::to_string(i)};
    progress.on_event(failed);
  }
  BOOST_TEST(progress.failures().at(OutcomeKind::kWrong).count == 3);
  BOOST_TEST(progress.failures().at(OutcomeKind::kWrong).text == "error 0");
  BOOST_TEST(captured.text().find("error 0") != std::string::npos);
  BOOST_TEST(captured.text().find("error 1") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(quiet_progress_says_nothing) {
  Captured captured;
  RunProgress progress(captured.file.get(), Terminal{}, {.lines = false, .permanent = false});
  for (const Kind kind : {Kind::kShapeBegin, Kind::kRound, Kind::kNewBest, Kind::kAdmitFailed}) {
    progress.on_event(event(kind, 100));
  }
  BOOST_TEST(captured.text() == "");
}

BOOST_AUTO_TEST_CASE(a_grid_is_the_product_of_its_lists_smallest_work_first) {
  Options options;
  options.batch = {8, 1};
  options.seq_len = {4096, 1024};
  const std::vector<Problem> problems = problems_of(grid_of(options, {}));
  BOOST_TEST(problems.size() == 4U);
  BOOST_TEST(to_text(problems.front()) == "batch=1 nhead=12 seq_len=1024");
  BOOST_TEST(to_text(problems.back()) == "batch=8 nhead=12 seq_len=4096");
}

BOOST_AUTO_TEST_CASE(options_replace_the_lists_of_a_preset) {
  Options options;
  options.preset = "seed";
  options.batch = {8};
  const std::vector<Problem> problems = problems_of(grid_of(options, {}));
  BOOST_TEST(problems.size() == 2U);
  BOOST_TEST(to_text(problems.front()) == "batch=8 nhead=12 seq_len=68000 shared_prefix=63240/8");
  BOOST_TEST(to_text(problems.back()) == "batch=8 nhead=12 seq_len=68000");
}

BOOST_AUTO_TEST_CASE(too_many_shapes_are_refused_before_they_are_made) {
  Options options;
  for (int64_t i = 1; i <= 4096; ++i) options.batch.push_back(i), options.seq_len.push_back(i);
  BOOST_CHECK_THROW(problems_of(grid_of(options, {})), Error);
}

BOOST_AUTO_TEST_CASE(a_summary_averages_ratios_geometrically_and_counts_a_kept_default_as_one) {
  std::vector<db::WinnerRecord> winners(2);
  winners[0].verdict = db::Verdict::kFaster;
  winners[0].gain = 0.21;
  winners[1].verdict = db::Verdict::kDefaultBest;
  const ResultSummary summary = summarize(winners);
  BOOST_TEST(summary.geomean_gain == 0.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(summary.faster == 1);
  BOOST_TEST(summary.default_best == 1);
}

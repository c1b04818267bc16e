// SPDX-License-Identifier: MIT
// The pieces of a report: escaping, drawing, what rounds say, commands that reproduce a failure,
// and the exports read back.
#define BOOST_TEST_MODULE tools_report
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"
#include "tools/json.h"
#include "tools/options.h"
#include "tools/report/evidence.h"
#include "tools/report/html.h"
#include "tools/report/levers.h"
#include "tools/report/plot.h"
#include "tools/report/reproduce.h"
#include "tuner/csv.h"

using namespace mla;
using namespace mla::testing;
using namespace mla::tools;
using Json = nlohmann::json;

namespace {

KernelConfig with(int32_t splits, Wait wait = Wait::kDrain) {
  KernelConfig config;
  config.splits = splits;
  config.wait = wait;
  return config;
}

db::RoundRecord round_of(int32_t index,
                         const std::vector<std::pair<KernelConfig, double>>& times_us) {
  db::RoundRecord round;
  round.round = index;
  for (const auto& [config, time_us] : times_us) {
    const char* role = round.samples.empty() ? "default" : "candidate";
    round.samples.push_back({config, 0, role, time_us, OutcomeKind::kOk});
  }
  return round;
}

// The default (1 split) takes 100 us, 8 splits 90 us, 8 splits with a partial wait 81 us; the first
// sample of each is 10 % longer.
std::vector<db::RoundRecord> four_rounds() {
  std::vector<db::RoundRecord> rounds;
  for (int32_t i = 0; i < 4; ++i) {
    const double slower = i == 0 ? 1.1 : 1;
    rounds.push_back(round_of(
        i,
        {{with(1), 100 * slower}, {with(8), 90 * slower}, {with(8, Wait::kPartial), 81 * slower}}));
  }
  return rounds;
}

std::string labels(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) text += tick.label + " ";
  return text;
}

// A database with one finished shape whose names need quoting everywhere.
struct Stored {
  Stored() {
    db::Store store = db::Store::open(path, db::OpenMode::kReadWrite);
    db::TuningKey key = sample_key();
    key.device.name = "a|b, \"c\"\n<d>";
    const int64_t id = store.open_tuning(store.begin_run(sample_run()), key).id;
    for (const db::RoundRecord& round : four_rounds()) store.save_round(id, round);
    db::WinnerRecord winner;
    winner.problem = key.problem;
    winner.config = winner.finalist = with(8, Wait::kPartial);
    winner.default_config = with(1);
    winner.verdict = db::Verdict::kFaster;
    winner.gain = winner.gain_low = winner.gain_high = 0.2345678;
    winner.default_us = 100;
    winner.expected_us = 81;
    store.finish_tuning(id, winner);
  }

  ReportData report() const {
    return gather_report(db::Store::open(path, db::OpenMode::kReadOnly));
  }

  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
};

}  // namespace

BOOST_AUTO_TEST_CASE(markup_and_control_characters_of_a_name_are_escaped) {
  BOOST_TEST(html_text("<a href=\"x\">&'\x1b") ==
             "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(a_file_name_never_becomes_a_scheme_or_another_folder) {
  BOOST_TEST(html_relative_url("javascript:x.csv") == "./javascript%3Ax.csv");
  BOOST_TEST(html_relative_url("a b/\"c") == "./a%20b%2F%22c");
}

BOOST_AUTO_TEST_CASE(a_scale_maps_its_ends_to_the_ends_of_the_drawing) {
  const Scale linear = Scale::linear(0, 10, 200, 100);
  BOOST_TEST(linear(0) == 200);
  BOOST_TEST(linear(10) == 100);
  const Scale logarithmic = Scale::logarithmic(1, 256, 0, 80);
  BOOST_TEST(logarithmic(16) == 40, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_scale_of_a_single_value_has_it_in_the_middle) {
  BOOST_TEST(Scale::linear(5, 5, 0, 10)(5) == 5, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(Scale::logarithmic(64, 64, 0, 10)(64) == 5, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(ticks_are_round_numbers_within_the_scale) {
  BOOST_TEST(labels(ticks_of_powers(Scale::logarithmic(3, 70, 0, 1))) == "4 8 16 32 64 ");
  BOOST_TEST(labels(ticks_of_decades(Scale::logarithmic(20, 1000, 0, 1))) ==
             "20 50 100 200 500 1000 ");
  BOOST_TEST(labels(ticks_of_steps(Scale::linear(-3, 25, 0, 1))) == "0 5 10 15 20 25 ");
  BOOST_TEST(ticks_of_decades(Scale::logarithmic(30, 33, 0, 1)).size() > 0U);
}

BOOST_AUTO_TEST_CASE(labels_that_would_touch_are_left_out) {
  Svg svg(100, 20, "t", "d");
  draw_labels(&svg, Scale::linear(0, 2, 20, 60), {{0, "first"}, {1, "second"}, {2, "third"}}, 10);
  BOOST_TEST(svg.html().find("second") == std::string::npos);
  BOOST_TEST(svg.html().find("third") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(text_on_every_mixed_colour_can_be_read) {
  const auto luminance = [](Rgb c) {
    const auto linear = [](uint8_t v) {
      return v <= 10 ? v / 255.0 / 12.92 : std::pow((v / 255.0 + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  };
  for (const Rgb end : {Rgb{33, 102, 172}, Rgb{179, 88, 6}, Rgb{8, 69, 136}}) {
    for (double part = 0; part <= 1; part += 0.05) {
      const Rgb fill = mix({247, 247, 247}, end, part);
      const double behind = luminance(fill);
      const double ink = is_light(fill) ? 0.0 : 1;
      const double contrast = (std::max(behind, ink) + 0.05) / (std::min(behind, ink) + 0.05);
      BOOST_TEST(contrast >= 4.5, hex_text(fill) << " " << contrast);
    }
  }
}

BOOST_AUTO_TEST_CASE(evidence_ranks_configurations_and_finds_what_a_lever_is_worth) {
  db::WinnerRecord winner;
  winner.default_config = with(1);
  const Evidence evidence = gather_evidence(four_rounds(), winner);
  BOOST_TEST_REQUIRE(evidence.ranked.size() == 3U);
  BOOST_TEST((evidence.ranked[0].config == with(8, Wait::kPartial)));
  BOOST_TEST(evidence.ranked[0].time_us.median == 81);
  BOOST_TEST(evidence.ranked[0].gain.median == 100.0 / 81 - 1, boost::test_tools::tolerance(1e-9));
  const LeverEffect& wait = evidence.levers[static_cast<size_t>(LeverKind::kPartialWait)];
  BOOST_TEST(wait.pairs == 4);
  BOOST_TEST(wait.gain.median == 90.0 / 81 - 1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(evidence.levers[static_cast<size_t>(LeverKind::kSplitMajor)].pairs == 0);
}

BOOST_AUTO_TEST_CASE(evidence_says_what_a_knob_costs_when_it_is_held) {
  db::WinnerRecord winner;
  winner.default_config = with(1);
  const Evidence evidence = gather_evidence(four_rounds(), winner);
  BOOST_TEST(evidence.knobs.count(Knob::kTileN) == 0U);  // never varied
  const std::vector<KnobEffect>& waits = evidence.knobs.at(Knob::kWait);
  BOOST_TEST_REQUIRE(waits.size() == 2U);
  BOOST_TEST(waits[0].loss == 90.0 / 81 - 1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(waits[1].loss == 0);
}

BOOST_AUTO_TEST_CASE(evidence_sees_the_first_sample_and_how_soon_the_search_was_done) {
  db::WinnerRecord winner;
  winner.default_config = with(1);
  const Evidence evidence = gather_evidence(four_rounds(), winner);
  BOOST_TEST(evidence.first_sample == 0.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST_REQUIRE(evidence.convergence.size() == 4U);
  BOOST_TEST(evidence.convergence[2].samples == 3);
  BOOST_TEST(evidence.convergence[2].loss == 0);
  BOOST_TEST(evidence.convergence.back().samples == 12);
}

BOOST_AUTO_TEST_CASE(a_shape_without_rounds_has_no_evidence) {
  const Evidence evidence = gather_evidence({}, {});
  BOOST_TEST(evidence.ranked.empty());
  BOOST_TEST(evidence.knobs.empty());
  BOOST_TEST(evidence.convergence.empty());
}

BOOST_AUTO_TEST_CASE(words_that_were_quoted_for_a_shell_come_back) {
  const std::vector<std::string> words = {"run", "it's here", "", "a b", "--db=x", "\\", "'"};
  BOOST_TEST(shell_words(shell_quoted(words)) == words, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_failure_is_reproduced_on_the_device_of_its_run) {
  BOOST_TEST(device_spec_of("mla-tune run --batch 8 --device=hip:1") == "hip:1");
  BOOST_TEST(device_spec_of("mla-tune run --batch 8") == "");
  BOOST_TEST(
      reproduce_command("mla-tune run --device 'cpu:threads=2' -q", sample_problem(), with(2)) ==
      "mla-tune bench --device cpu:threads=2 --batch 8 --nhead 12 --seq-len 68000 --config "
      "'" +
          to_text(with(2)) + "'");
}

BOOST_AUTO_TEST_CASE(a_sweep_is_read_back_and_a_mistake_in_it_is_named) {
  const std::string head =
      "# A (gfx9, 8 CU, 1 XCD)\n"
      "table,batch,nhead,seq_len,q_len,kv_dtype,page_size,shared_prefix,imbalance,pool,leg,splits,"
      "gain,gain_low,gain_high,rounds,verdict\n";
  const std::string row = "levers,8,12,68000,1,bf16,1,0/8,1,small,partial_wait,32,";
  const auto levers = read_swept_levers(head + row + "0.02,0.01,0.03,15,faster\n", "x.csv");
  BOOST_TEST_REQUIRE(levers.size() == 1U);
  BOOST_TEST((levers[0].problem == sample_problem()));
  BOOST_TEST(levers[0].config.splits == 32);
  BOOST_TEST(levers[0].device == "A (gfx9, 8 CU, 1 XCD)");
  BOOST_TEST(levers[0].gain.high == 0.03);
  BOOST_CHECK_EXCEPTION(read_swept_levers(head + row + "much,0.01,0.03,15,faster\n", "x.csv"),
                        Error,
                        [](const Error& e) {
                          return e.what() == std::string("x.csv:3: gain: 'much' is not a number");
                        });
}

BOOST_FIXTURE_TEST_CASE(the_csv_of_a_report_gives_back_shape_answer_and_validators, Stored) {
  const tuner::CsvFile file = tuner::parse_csv(report_csv(report()), "report.csv");
  BOOST_TEST_REQUIRE(file.rows.size() == 1U);
  const auto cell = [&](const std::string& column) {
    const auto& names = file.header.cells;
    const auto place = std::find(names.begin(), names.end(), column);
    BOOST_TEST_REQUIRE((place != names.end()), column);
    return file.rows[0].cells[static_cast<size_t>(place - names.begin())];
  };
  BOOST_TEST(cell("device") == "a|b, \"c\"\n<d>");
  BOOST_TEST((parse_problem("batch=" + cell("batch") + " nhead=" + cell("nhead") +
                            " seq_len=" + cell("seq_len")) == sample_problem()));
  std::string config;
  for (const Knob knob : kKnobs) {
    config += std::string(config.empty() ? "" : " ") + std::string(name(knob)) + "=" +
              cell(std::string(name(knob)));
  }
  BOOST_TEST((parse_config(config) == with(8, Wait::kPartial)));
  BOOST_TEST(std::stod(cell("gain")) == 0.2345678, boost::test_tools::tolerance(1e-6));
  for (const char* validator : {" validator schema_version=1",
                                " validator device_key=gfx999/64cu/2xcd/SPX",
                                " validator driver=driver 1",
                                " validator compiler=compiler 3",
                                " validator code_hash=code 4"}) {
    BOOST_TEST(
        (std::find(file.comments.begin(), file.comments.end(), validator) != file.comments.end()),
        validator);
  }
}

BOOST_FIXTURE_TEST_CASE(the_json_of_a_report_gives_back_shape_and_answer, Stored) {
  const Json json = Json::parse(report_json(report()));
  BOOST_TEST(json["schema_version"] == 1);
  const Json& device = json["devices"][0];
  BOOST_TEST(device["device"]["name"] == "a|b, \"c\"\n<d>");
  const Json& shape = device["shapes"][0];
  BOOST_TEST(shape["problem"]["seq_len"] == 68000);
  BOOST_TEST(shape["config"]["wait"] == "partial");
  BOOST_TEST(shape["gain"] == 0.234568);
  BOOST_TEST(shape["dose_response"].size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(every_row_of_the_markdown_has_as_many_cells_as_its_head, Stored) {
  const std::string text = report_markdown(report());
  BOOST_TEST(text.find("## a\\|b, \"c\" <d>") != std::string::npos);
  size_t cells = 0;
  for (const std::string& line : split(text, '\n')) {
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (line.rfind("|", 0) != 0) {
      cells = 0;
      continue;
    }
    if (cells == 0) cells = bars;
    BOOST_TEST(bars == cells, line);
  }
}

// SPDX-License-Identifier: MIT
// The whole way on the recorded MI355X sweep: run, look up, report.
#define BOOST_TEST_MODULE tools_run
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/config.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

namespace {

using namespace mla::testing;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kReplay = "replay:" MLA_TEST_ASSETS "/seed_levers.csv";

// One tuned database for all cases: they only read it.
struct TunedSweep {
  TunedSweep() {
    result = run({"run", "--device", kReplay, "--db", database(), "--no-progress", "--json"});
  }
  std::string database() const { return directory.file("tuning.db"); }

  TemporaryDirectory directory;
  ProgramResult result;
};
const TunedSweep& sweep() {
  static const TunedSweep tuned;
  return tuned;
}

ProgramResult lookup(int batch, const Words& more) {
  Words args = {"lookup",
                "--device",
                kReplay,
                "--nhead",
                "12",
                "--batch",
                std::to_string(batch),
                "--db",
                sweep().database()};
  args.insert(args.end(), more.begin(), more.end());
  return run(args);
}

Json lookup_json(int batch, const Words& more = {"--seq-len", "68000"}) {
  Words args = more;
  args.push_back("--json");
  return Json::parse(lookup(batch, args).out);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_without_shapes_tunes_what_the_recording_holds) {
  BOOST_TEST(sweep().result.status == 0, sweep().result.err);
  const Json document = Json::parse(sweep().result.out);
  BOOST_TEST(document["schema_version"] == 1);
  BOOST_TEST(document["status"] == "done");
  BOOST_TEST(document["shapes"].size() == 7U);
  BOOST_TEST(document["summary"]["geomean_gain"] > 0.0);
}

BOOST_AUTO_TEST_CASE(lookups_answer_partial_at_1_16_24_48_and_drain_at_8) {
  for (const int batch : {1, 16, 24, 48}) {
    const Json answer = lookup_json(batch);
    BOOST_TEST(answer["config"]["wait"] == "partial", "batch " << batch);
    BOOST_TEST(answer["source"] == "exact");
  }
  BOOST_TEST(lookup_json(8)["config"]["wait"] == "drain");
}

BOOST_AUTO_TEST_CASE(a_lookup_document_has_exactly_the_documented_names) {
  const Json answer = lookup_json(24);
  Words names, knobs;
  for (const auto& item : answer.items()) names.push_back(item.key());
  for (const auto& item : answer["config"].items()) knobs.push_back(item.key());
  BOOST_TEST(names == Words({"config", "database", "expected_us", "gain", "reason", "source"}));
  BOOST_TEST(knobs == Words({"order",
                             "splits",
                             "stage1_warps",
                             "stage2_tiles",
                             "stage2_warps",
                             "stages",
                             "tile_n",
                             "wait"}));
  BOOST_TEST(answer["database"] == sweep().database());
  BOOST_TEST(answer["expected_us"].is_null());  // the recording holds ratios
}

BOOST_AUTO_TEST_CASE(strict_lookups_fail_where_no_database_answers) {
  BOOST_TEST(lookup(24, {"--seq-len", "68000", "--strict"}).status == 0);
  BOOST_TEST(lookup(24, {"--seq-len", "512", "--strict"}).status == 1);
  BOOST_TEST(lookup(24, {"--strict"}).status == 1);
  BOOST_TEST(lookup_json(24, {})["source"] == "default");
}

BOOST_AUTO_TEST_CASE(an_explanation_shows_key_default_and_evidence) {
  const std::string text = lookup(24, {"--seq-len", "68000", "--explain"}).out;
  for (const char* part : {"key ", "default ", "exact ", "rounds won", "placebo noise"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part);
  }
}

BOOST_AUTO_TEST_CASE(an_explanation_between_shapes_shows_the_losses_at_the_neighbours) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("tuning.db");
  const std::string device = "analytic:cus=132,xcds=1,noise=0.1%";
  const ProgramResult tuned = run({"run",
                                   "--device",
                                   device,
                                   "--db",
                                   path,
                                   "--batch",
                                   "16,24",
                                   "--seq-len",
                                   "65536",
                                   "--max-configs",
                                   "60",
                                   "-q"});
  BOOST_TEST_REQUIRE(tuned.status == 0);
  const std::vector<std::string> between = {"lookup",
                                            "--device",
                                            device,
                                            "--db",
                                            path,
                                            "--batch",
                                            "20",
                                            "--seq-len",
                                            "65536",
                                            "--explain"};
  const std::string text = run(between).out;
  for (const char* part : {"neighbour batch=16", "neighbour batch=24", "  there  "}) {
    BOOST_TEST(text.find(part) != std::string::npos, part << text);
  }
  std::vector<std::string> as_json = between;
  as_json.push_back("--json");
  const Json considered = Json::parse(run(as_json).out)["explain"]["considered"];
  BOOST_TEST_REQUIRE(considered.size() == 2u);
  BOOST_TEST(considered[0]["losses"].size() + considered[1]["losses"].size() >= 1u);
}

BOOST_AUTO_TEST_CASE(the_grid_of_a_shipped_database_has_its_wave_edges_and_the_riskiest_first) {
  const TemporaryDirectory directory;
  const ProgramResult plan = run({"run",
                                  "--preset",
                                  "grid",
                                  "--device",
                                  "analytic:cus=132,xcds=1",
                                  "--db",
                                  directory.file("tuning.db"),
                                  "--dry-run",
                                  "--json"});
  BOOST_TEST_REQUIRE(plan.status == 0);
  const Json shapes = Json::parse(plan.out)["shapes"];
  BOOST_TEST(shapes.size() > 8u * 6 * 9 * 2 * 2);
  std::set<int> batches;
  for (const Json& shape : shapes) {
    const Json& problem = shape["problem"];
    if (problem["nhead"] == 12 && problem["q_len"] == 1)
      batches.insert(problem["batch"].get<int>());
  }
  for (const int edge : {33, 34, 44, 45, 66, 67}) BOOST_TEST(batches.count(edge) == 1u, edge);
  BOOST_TEST(batches.count(46) == 0u);
  // One workgroup more than the compute units, or nearly.
  BOOST_TEST(shapes[0]["problem"]["batch"].get<int>() != 128);
}

BOOST_AUTO_TEST_CASE(the_same_run_again_measures_nothing) {
  const ProgramResult again =
      run({"run", "--device", kReplay, "--db", sweep().database(), "--json", "-q"});
  BOOST_TEST(again.status == 0);
  BOOST_TEST(Json::parse(again.out)["samples_measured"] == 0);
}

BOOST_AUTO_TEST_CASE(reports_come_as_markdown_csv_and_json) {
  const std::string path = sweep().directory.file("report");
  const auto report = [&](const std::string& format) {
    const ProgramResult result =
        run({"report", "--db", sweep().database(), "--format", format, "-o", path});
    BOOST_TEST(result.status == 0, result.err);
    return read_file(path);
  };
  const std::string markdown = report("md");
  for (const char* part : {"# Tuning report",
                           "MI355X",
                           "### Answer",
                           "### Time against splits",
                           "### Failures",
                           "### Measurement quality",
                           "seed 1: `mla-tune run"}) {
    BOOST_TEST(markdown.find(part) != std::string::npos, part);
  }
  const std::string csv = report("csv");
  BOOST_TEST(csv.find("batch,nhead,seq_len,") != std::string::npos);
  BOOST_TEST(csv.find(",faster,") != std::string::npos);
  const Json json = Json::parse(report("json"));
  BOOST_TEST(json["devices"][0]["shapes"].size() == 7U);
  BOOST_TEST(json["devices"][0]["shapes"][0]["dose_response"].size() > 0U);
}

BOOST_AUTO_TEST_CASE(a_report_that_cannot_be_written_is_a_usage_error_that_names_the_file) {
  const ProgramResult result =
      run({"report", "--db", sweep().database(), "-o", "/nonexistent/report.md"});
  BOOST_TEST(result.status == 2);
  BOOST_TEST(result.err.find("/nonexistent/report.md") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(info_and_check_agree_that_the_database_is_sound) {
  const ProgramResult info = run({"db", "info", "--db", sweep().database(), "--json"});
  BOOST_TEST(Json::parse(info.out)["winners"] == 7);
  const ProgramResult check = run({"db", "check", "--db", sweep().database(), "--json"});
  BOOST_TEST(check.status == 0, check.out);
  BOOST_TEST(Json::parse(check.out)["ok"] == true);
}

BOOST_AUTO_TEST_CASE(the_table_goes_to_standard_output_and_progress_to_standard_error) {
  const ProgramResult result = run({"run",
                                    "--device",
                                    kReplay,
                                    "--batch",
                                    "8,24",
                                    "--seq-len",
                                    "68000",
                                    "--db",
                                    sweep().directory.file("table.db")});
  BOOST_TEST(result.status == 0, result.err);
  for (const char* part : {"batch", "default_rel", "tried/pruned/failed", "geomean", "next: "}) {
    BOOST_TEST(result.out.find(part) != std::string::npos, part);
  }
  BOOST_TEST(result.err.find("progress done=") != std::string::npos, result.err);
  BOOST_TEST(result.out.find('\033') == std::string::npos);
  BOOST_TEST(result.err.find('\033') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_recorded_h200_keeps_the_full_ring_at_every_batch) {
  const TemporaryDirectory directory;
  const std::string device = "replay:" MLA_TEST_ASSETS "/h200_levers.csv";
  const std::string path = directory.file("h200.db");
  BOOST_TEST(run({"run", "--device", device, "--db", path, "--quiet"}).status == 0);
  for (const char* batch : {"1", "8", "24", "48"}) {
    const ProgramResult result = run({"lookup",
                                      "--device",
                                      device,
                                      "--db",
                                      path,
                                      "--nhead",
                                      "12",
                                      "--batch",
                                      batch,
                                      "--seq-len",
                                      "68000",
                                      "--json"});
    BOOST_TEST(Json::parse(result.out)["config"]["wait"] == "partial", batch);
  }
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_the_plan_and_creates_no_database) {
  const std::string path = sweep().directory.file("planned.db");
  const ProgramResult result =
      run({"run", "--preset", "seed", "--device", kReplay, "--db", path, "--dry-run", "--json"});
  BOOST_TEST(result.status == 0, result.err);
  BOOST_TEST(Json::parse(result.out)["shapes"].size() == 16U);
  BOOST_TEST(!std::ifstream(path).good());
}

BOOST_AUTO_TEST_CASE(named_configurations_are_compared_in_the_words_of_the_guard) {
  const auto verdict = [](const std::string& batch) {
    const ProgramResult result = run({"bench",
                                      "--device",
                                      kReplay,
                                      "--batch",
                                      batch,
                                      "--seq-len",
                                      "68000",
                                      "--config",
                                      "wait=drain order=batch_major stage2_tiles=1",
                                      "--config",
                                      "wait=partial order=batch_major stage2_tiles=1",
                                      "--json"});
    BOOST_TEST(result.status == 0, result.err);
    return Json::parse(result.out)["comparisons"][0]["legs"][1]["verdict"].get<std::string>();
  };
  BOOST_TEST(verdict("24") == "faster");
  BOOST_TEST(verdict("8") == "slower");
  BOOST_TEST(verdict("2") == "undecided");
}

BOOST_AUTO_TEST_CASE(the_space_of_a_shape_is_listed_with_reasons) {
  const ProgramResult result = run({"space", "--device", "analytic", "--batch", "1", "--json"});
  BOOST_TEST(result.status == 0, result.err);
  const Json document = Json::parse(result.out);
  BOOST_TEST(document["knobs"].size() == mla::kKnobCount);
  BOOST_TEST(document["pruned"]["split_major_batch"] > 0);
}

BOOST_AUTO_TEST_CASE(an_interrupted_run_says_how_to_resume_and_the_resumed_one_finishes) {
  const std::string path = sweep().directory.file("interrupted.db");
  const Words args = {
      "run", "--device", "analytic", "--batch", "1..4", "--seq-len", "16384", "--db", path};
  Program first(args);
  BOOST_REQUIRE(first.wait_for_error_text("begin 2/4"));
  first.signal(SIGINT);
  const ProgramResult stopped = first.wait();
  BOOST_TEST(stopped.status == 130, stopped.err);
  BOOST_TEST(stopped.err.find("resume with: mla-tune run --device analytic --batch 1..4") !=
                 std::string::npos,
             stopped.err);
  BOOST_TEST(run({"db", "check", "--db", path}).status == 0);
  const ProgramResult resumed = run(args);
  BOOST_TEST(resumed.status == 0, resumed.err);
  BOOST_TEST(resumed.out.find("4 of 4 shapes") != std::string::npos, resumed.out);
}

BOOST_AUTO_TEST_CASE(a_budget_that_is_too_small_ends_with_status_5_and_says_what_is_left) {
  const ProgramResult result = run({"run",
                                    "--device",
                                    "analytic",
                                    "--batch",
                                    "1..64",
                                    "--seq-len",
                                    "16384",
                                    "--budget",
                                    "0.01s",
                                    "--db",
                                    sweep().directory.file("budget.db"),
                                    "--no-progress"});
  BOOST_TEST(result.status == 5, result.err);
  BOOST_TEST(result.err.find("out of budget") != std::string::npos);
  BOOST_TEST(result.err.find("resume with: ") != std::string::npos);
}

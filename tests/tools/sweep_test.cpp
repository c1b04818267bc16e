// SPDX-License-Identifier: MIT
// `mla-tune sweep` on the recorded MI355X sweeps, on a formula and on this machine's CPU.
#define BOOST_TEST_MODULE tools_sweep
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"
#include "tools/sweep.h"
#include "tuner/analytic_source.h"

namespace {

using namespace mla::testing;
using namespace mla::tools;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kLeverFile = "replay:" MLA_TEST_ASSETS "/seed_levers.csv,noise=0.05%";
const std::string kDoseFile = "replay:" MLA_TEST_ASSETS "/seed_dose_response.csv,noise=0.05%";

Json swept(Words args, int status = 0) {
  args.insert(args.begin(), "sweep");
  args.insert(args.end(), {"--json", "--quiet"});
  const ProgramResult result = run(args);
  BOOST_REQUIRE_MESSAGE(result.status == status, result.err);
  return Json::parse(result.out);
}

// At batch 2, nhead 4, 300 rows.
Json small_levers(const std::string& device) {
  return swept(
      {"levers", "--device", device, "--batch", "2", "--nhead", "4", "--seq-len", "300"})["levers"];
}

const Json& leg_of(const Json& groups, int batch, const std::string& name) {
  for (const Json& group : groups) {
    if (group["problem"]["batch"] != batch) continue;
    for (const Json& leg : group["legs"]) {
      if (leg["leg"] == name) return leg;
    }
  }
  throw std::runtime_error("no leg " + name);
}

std::string verdict_of(const Json& leg) {
  if (leg.contains("left_out")) return "left out";
  return leg.contains("verdict") ? leg["verdict"].get<std::string>() : "none";
}

}  // namespace

BOOST_AUTO_TEST_CASE(levers_of_the_recorded_sweep_have_the_published_verdicts) {
  const Json levers = swept({"levers", "--device", kLeverFile})["levers"];
  const struct {
    int batch;
    const char *partial_wait, *split_major, *stage2_tiling, *all_levers;
  } published[] = {{1, "faster", "left out", "faster", "faster"},
                   {2, "undecided", "undecided", "faster", "faster"},
                   {8, "slower", "undecided", "undecided", "undecided"},
                   {16, "faster", "slower", "undecided", "faster"},
                   {24, "faster", "left out", "undecided", "faster"},
                   {48, "faster", "left out", "undecided", "faster"}};
  for (const auto& row : published) {
    const auto expect = [&](const char* leg, const std::string& verdict) {
      BOOST_TEST(verdict_of(leg_of(levers, row.batch, leg)) == verdict, row.batch << " " << leg);
    };
    expect("partial_wait", row.partial_wait);
    expect("split_major", row.split_major);
    expect("stage2_tiling", row.stage2_tiling);
    expect("all_levers", row.all_levers);
  }
  const Json& partial = leg_of(levers, 24, "partial_wait");
  BOOST_TEST(partial["gain"].get<double>() == 0.1054, boost::test_tools::tolerance(0.01));
  BOOST_TEST(partial["trips"] == 107);
  BOOST_TEST(partial["waves"] == 1);
  BOOST_TEST(partial["round_gains"].size() == 15U);
}

BOOST_AUTO_TEST_CASE(the_recorded_dose_response_is_slower_at_32_and_64_splits_of_batch_8_only) {
  const Json dose = swept({"dose", "--device", kDoseFile, "--splits", "2:256:x2"})["dose"];
  BOOST_TEST(dose["lever"] == "partial_wait");
  BOOST_TEST(dose["groups"].size() == 16U);
  for (const Json& group : dose["groups"]) {
    const Json& leg = group["legs"][1];
    const int splits = leg["config"]["splits"];
    const bool slower = group["problem"]["batch"] == 8 && (splits == 32 || splits == 64);
    BOOST_TEST((verdict_of(leg) == "slower") == slower, splits);
    BOOST_TEST(group["legs"][0]["config"]["splits"] == splits);
  }
}

BOOST_AUTO_TEST_CASE(a_leg_that_is_not_measured_says_why) {
  const Json levers = swept({"levers", "--device", kLeverFile})["levers"];
  const auto reason = [&](int batch) {
    return leg_of(levers, batch, "split_major")["left_out"].get<std::string>();
  };
  BOOST_TEST(reason(1) == "split-major order needs batch > 1");
  BOOST_TEST(reason(24) == "split-major order needs splits to be a multiple of the 8 XCDs");
  const Json dose = swept({"levers", "--device", kDoseFile})["levers"];
  const std::string order = leg_of(dose, 8, "split_major")["left_out"];
  BOOST_TEST(order.find("not in the recording") != std::string::npos, order);
}

BOOST_AUTO_TEST_CASE(
    split_counts_that_a_device_does_not_allow_are_left_out_and_nothing_is_success) {
  const Words shape = {"dose", "--device", "analytic", "--batch", "8", "--seq-len", "68000"};
  Words args = shape;
  args.insert(args.end(), {"--splits", "5000"});
  const Json document = swept(args, 1);
  BOOST_TEST(document["dose"]["groups"][0]["legs"][0].contains("left_out"));
  BOOST_TEST(document["status"] == "failed");
}

BOOST_AUTO_TEST_CASE(each_lever_has_a_dose_response) {
  for (const auto& [lever, leg] :
       {std::pair{"order", "split_major"}, {"stage2", "stage2_tiling"}}) {
    const Json document = swept({"dose",
                                 "--device",
                                 "analytic",
                                 "--batch",
                                 "8",
                                 "--seq-len",
                                 "68000",
                                 "--splits",
                                 "16",
                                 "--lever",
                                 lever});
    const Json& legs = document["dose"]["groups"][0]["legs"];
    BOOST_TEST(legs[1]["leg"] == leg);
    BOOST_TEST(legs[1]["outcome"] == "ok");
  }
}

BOOST_AUTO_TEST_CASE(the_tuners_choice_is_a_leg_where_a_database_has_one) {
  TemporaryDirectory directory;
  const std::string database = directory.file("tuning.db");
  const Words shape = {
      "--device", "analytic:copies=8,faster=5%", "--batch", "8", "--seq-len", "4096"};
  Words tune = {"run", "--db", database, "-q"};
  tune.insert(tune.end(), shape.begin(), shape.end());
  BOOST_TEST(run(tune).status == 0);
  Words args = {"levers", "--db", database};
  args.insert(args.end(), shape.begin(), shape.end());
  BOOST_TEST(verdict_of(leg_of(swept(args)["levers"], 8, "tuned")) == "faster");
  BOOST_TEST(run({"sweep", "--db", directory.file("none.db"), "--device", "analytic"}).status == 4);
}

BOOST_AUTO_TEST_CASE(a_recorded_sweep_is_read_back_as_a_device_with_the_same_gains) {
  TemporaryDirectory directory;
  const std::string file = directory.file("recorded.csv");
  const Words shape = {"--batch", "8,24", "--seq-len", "68000", "--shared-prefix", "63240/8"};
  Words first = {"levers", "--device", "analytic:noise=0", "--record", file};
  first.insert(first.end(), shape.begin(), shape.end());
  Words again = {"levers", "--device", "replay:" + file + ",noise=0"};
  const Json measured = swept(first), replayed = swept(again);
  BOOST_TEST(replayed["device"]["arch"] == "gfx_analytic");
  BOOST_TEST(replayed["levers"].size() == 2U);
  for (const int batch : {8, 24}) {
    for (const char* leg : {"partial_wait", "stage2_tiling", "all_levers"}) {
      const double gain = leg_of(measured["levers"], batch, leg)["gain"];
      const double read_back = leg_of(replayed["levers"], batch, leg)["gain"];
      BOOST_TEST(std::abs(gain - read_back) < 1e-4, batch << " " << leg);
    }
  }
}

BOOST_AUTO_TEST_CASE(ratios_cannot_be_recorded_as_times) {
  const ProgramResult result =
      run({"sweep", "--device", kLeverFile, "--record", "/nonexistent/x.csv"});
  BOOST_TEST(result.status == 2);
  BOOST_TEST(result.err.find("--record") != std::string::npos, result.err);
}

BOOST_AUTO_TEST_CASE(a_csv_of_a_sweep_holds_every_leg_with_its_rounds) {
  TemporaryDirectory directory;
  const std::string file = directory.file("sweep.csv");
  swept({"levers", "--device", kLeverFile, "--csv", file});
  std::ifstream csv(file);
  std::string line;
  int rows = 0;
  while (std::getline(csv, line)) {
    if (line.find("gain_round15") != std::string::npos)
      rows = 0;
    else if (line.front() != '#')
      ++rows;
  }
  BOOST_TEST(rows == 35);  // 7 batches of 5 legs
}

BOOST_AUTO_TEST_CASE(a_cpu_is_swept_in_a_worker_and_its_placebo_lever_is_left_out) {
  const Json levers = small_levers("cpu:threads=1");
  const std::string wait = leg_of(levers, 2, "partial_wait")["left_out"];
  BOOST_TEST(wait.find("placebo") != std::string::npos, wait);
  for (const char* leg : {"baseline", "split_major"}) {
    BOOST_TEST(leg_of(levers, 2, leg)["outcome"] == "ok");
    BOOST_TEST(leg_of(levers, 2, leg)["time_us"].get<double>() > 0.0);
  }
}

BOOST_AUTO_TEST_CASE(a_leg_that_computes_wrong_has_an_outcome_and_no_gain) {
  const Json levers = small_levers("faulty:wrong@order=split_major:cpu:threads=1");
  const Json& leg = leg_of(levers, 2, "split_major");
  BOOST_TEST(leg["outcome"] == "wrong");
  BOOST_TEST(!leg.contains("gain"));
  BOOST_TEST(leg_of(levers, 2, "baseline")["outcome"] == "ok");
}

BOOST_AUTO_TEST_CASE(a_budget_that_ends_before_the_first_round_leaves_a_document_and_status_5) {
  const Json document = swept({"--device", "analytic", "--budget", "0.000000001"}, 5);
  BOOST_TEST(document["status"] == "out_of_budget");
  BOOST_TEST(document["levers"].size() == 0U);
}

BOOST_AUTO_TEST_CASE(an_interrupted_sweep_prints_what_it_has) {
  Program sweep({"sweep",
                 "--device",
                 "cpu:threads=1",
                 "--batch",
                 "1",
                 "--nhead",
                 "4",
                 "--seq-len",
                 "300",
                 "--rounds",
                 "60",
                 "--splits",
                 "1..200",
                 "--json"});
  BOOST_TEST(sweep.wait_for_error_text("progress done="));
  sweep.signal(SIGINT);
  const ProgramResult result = sweep.wait();
  BOOST_TEST(result.status == 130, result.err);
  const Json document = Json::parse(result.out);
  BOOST_TEST(document["status"] == "stopped");
  BOOST_TEST(document["levers"][0]["legs"].size() == 5U);
}

BOOST_AUTO_TEST_CASE(what_was_measured_before_a_device_was_lost_is_kept) {
  class LostDevice : public mla::tuner::AnalyticSource {
   public:
    LostDevice() : AnalyticSource({}) {}
    mla::TimedRun sample(const mla::KernelConfig& config, const mla::tuner::SampleId& id) override {
      if (++samples > 100) throw mla::Error(mla::ErrorCode::kDevice, "lost");
      return AnalyticSource::sample(config, id);
    }
    int samples = 0;
  } device;
  const mla::Problem problem = mla::parse_problem("batch=8 nhead=12 seq_len=68000");
  std::vector<SweepGroup> groups;
  for (const int splits : {1, 2, 4}) {
    groups.push_back(dose_group(device.space(), problem, Lever::kWait, splits));
  }
  std::vector<SweptGroup> swept;
  const std::atomic<bool> never_stop{false};
  BOOST_CHECK_THROW(measure_groups(device, groups, {}, nullptr, never_stop, &swept), mla::Error);
  BOOST_TEST(swept.size() == 2U);  // three legs (one is the placebo) of 15 rounds each
  BOOST_TEST(swept.back().legs.back().round_gains.size() == 15U);
}

BOOST_AUTO_TEST_CASE(a_group_among_many_has_more_than_its_share_of_the_budget_to_load_its_rows) {
  class SlowToLoad : public mla::tuner::AnalyticSource {
   public:
    SlowToLoad() : AnalyticSource({}) {}
    mla::Outcome select(const mla::Problem& problem, uint64_t seed) override {
      const auto loaded = mla::tuner::Clock::now() + std::chrono::milliseconds(20);
      while (mla::tuner::Clock::now() < loaded) continue;
      return AnalyticSource::select(problem, seed);
    }
  } device;
  const mla::Problem problem = mla::parse_problem("batch=8 nhead=12 seq_len=68000");
  const std::vector<SweepGroup> groups(100, lever_group(device.space(), problem, std::nullopt));
  SweepOptions options;
  options.budget_s = 1;  // a hundredth of it is half the time to load
  std::vector<SweptGroup> swept;
  const std::atomic<bool> never_stop{false};
  measure_groups(device, groups, options, nullptr, never_stop, &swept);
  BOOST_REQUIRE(!swept.empty());
  BOOST_TEST(swept.front().complete);
}

BOOST_AUTO_TEST_CASE(the_levers_table_refuses_what_only_the_dose_response_takes) {
  const ProgramResult result = run({"sweep", "levers", "--splits", "2", "--device", "analytic"});
  BOOST_TEST(result.status == 2);
  BOOST_TEST(result.err == "mla-tune sweep: levers: takes no --lever or --splits; dose does\n");
}

// SPDX-License-Identifier: MIT
// CSV text, recordings and the replay source.
#define BOOST_TEST_MODULE tuner_recording
#include "tuner/recording.h"

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "kernels/error.h"
#include "tuner/csv.h"
#include "tuner/replay_source.h"
#include "tuner/stats.h"

using namespace mla;
using namespace mla::tuner;

namespace {

const std::string kHead = "# MI355X (gfx950, 256 CU, 8 XCD)\nbatch,nhead,seq_len,splits,wait,";

std::string error_of(const std::string& text) {
  try {
    parse_recording(text, "file.csv", {});
  } catch (const Error& error) {
    BOOST_TEST((error.code() == ErrorCode::kUsage));
    return error.what();
  }
  return "no error";
}

void check_error(const std::string& text, const std::string& expected) {
  const std::string error = error_of(text);
  BOOST_TEST(error.find(expected) != std::string::npos, error << " lacks " << expected);
}

Problem problem_of(int batch) {
  return parse_problem("batch=" + std::to_string(batch) + " nhead=12 seq_len=68000");
}

// The median over samples of drained / partial - 1 at a forced split count, through the source.
double partial_gain(CandidateSource& source, int batch, int splits) {
  source.select(problem_of(batch), 1);
  KernelConfig drained = source.space().neutral();
  drained.splits = splits;
  KernelConfig partial = drained;
  partial.wait = Wait::kPartial;
  BOOST_TEST(source.admit(drained, true).ok());
  BOOST_TEST(source.admit(partial, false).ok());
  std::vector<double> gains;
  for (int32_t round = 0; round < 31; ++round) {
    const SampleId first{db::Phase::kFinal, 0, round, 0}, second{db::Phase::kFinal, 0, round, 1};
    gains.push_back(source.sample(drained, first).time_us / source.sample(partial, second).time_us -
                    1);
  }
  return median(gains);
}

}  // namespace

BOOST_AUTO_TEST_CASE(csv_reads_quotes_commas_and_both_line_ends) {
  const CsvFile file = parse_csv("# note\r\na,b\r\n\"x,\"\"y\"\"\n\",2\n\n3,\n", "f");
  BOOST_TEST(file.comments.at(0) == " note");
  BOOST_TEST(file.rows.size() == 2U);
  BOOST_TEST(file.rows[0].cells[0] == "x,\"y\"\n");
  BOOST_TEST(file.rows[1].line == 6);
  BOOST_TEST(file.rows[1].cells[1] == "");
}

BOOST_AUTO_TEST_CASE(csv_mistakes_name_file_and_line) {
  check_error("", "file.csv:1: no header");
  check_error("a,a\n", "file.csv:1: column 'a': there are two");
  check_error("a,b\n1\n", "file.csv:2: expected 2 cells, found 1");
  check_error("a,b\n1,\"2\n", "file.csv:2: a quoted cell");
  check_error("a,b\n1,2\"3\n", "file.csv:2: a quote inside");
  check_error("a,b\n\"1\"2,3\n", "file.csv:2: expected a comma");
}

BOOST_AUTO_TEST_CASE(recording_mistakes_name_file_line_and_column) {
  check_error("# MI355X\nbatch,nhead,splits,time_us\n1,2,3,4\n", "file.csv:2: column seq_len");
  check_error("# MI355X\nbatch,nhead,seq_len,time_us\n1,2,3,4\n", "names a knob");
  check_error(kHead + "leg\n", "column time_us, median_us or relative_time: missing");
  check_error(kHead + "time_us\n8,12,100,x,drain,5\n", "file.csv:3: column splits");
  check_error(kHead + "time_us\n8,12,100,2,never,5\n", "file.csv:3: column wait");
  check_error(kHead + "time_us\n0,12,100,2,drain,5\n", "file.csv:3: column batch");
  check_error(kHead + "time_us\n8 q_len=2,12,100,2,drain,5\n", "column batch: '8 q_len=2'");
  check_error(kHead + "time_us\n8,12,0,2,drain,5\n", "file.csv:3: column seq_len: 0");
  check_error(kHead + "time_us\n8,12,100,65537,drain,5\n", "column splits: 65537 is above 65536");
  check_error(kHead + "time_us\n8,12,100,2,drain,\033\n", "column time_us: '?'");
  check_error(kHead + "time_us\n8,12,100,2,drain,-5\n", "column time_us: '-5'");
  check_error(kHead + "time_us\n8,12,100,2,drain,nan\n", "column time_us: 'nan'");
  check_error(kHead + "time_us\n", "no rows");
  check_error("batch,nhead,seq_len,splits,time_us\n8,12,100,2,5\n", "add cus=N");
}

BOOST_AUTO_TEST_CASE(the_device_is_read_from_the_comments_or_the_hint) {
  const Recording seed = parse_recording(kHead + "time_us\n8,12,100,2,drain,5\n", "f", {});
  BOOST_TEST(device_key(seed.device) == "gfx950/256cu/8xcd");
  const std::string plain = "batch,nhead,seq_len,splits,time_us\n8,12,100,2,5\n";
  BOOST_TEST(parse_recording("# H200\n" + plain, "f", {}).device.arch == "sm_90");
  BOOST_TEST(parse_recording("# Card X (99 SMs)\n" + plain, "f", {}).device.compute_units == 99);
  BOOST_TEST(parse_recording(plain, "f", {40, 2}).device.xcds == 2);
}

// The H200's default got another ring after its levers had been recorded, and none of the recorded
// times was of it.
BOOST_AUTO_TEST_CASE(a_recording_keeps_the_default_of_its_baseline_leg) {
  const std::string head = "# H200\nbatch,nhead,seq_len,leg,splits,tile_n,stages,time_us\n";
  const auto shape_of = [](const std::string& text) {
    const KernelConfig config =
        ReplaySource(parse_recording(text, "f", {}), {}, 1).space().neutral();
    return std::pair(config.tile_n, config.stages);
  };
  const std::string tuned = "8,12,100,tuned,2,32,2,5\n";
  BOOST_TEST((shape_of(head + "8,12,100,baseline,2,16,3,5\n" + tuned) == std::pair(16, 3)));
  BOOST_TEST((shape_of(head + tuned) == std::pair(32, 2)));
}

// One that took workgroups of four warps at some shapes lost its costs, and with them wide groups.
BOOST_AUTO_TEST_CASE(a_recorded_default_of_any_kernel_with_costs_is_that_of_today) {
  const std::string head =
      "# H200\nbatch,nhead,seq_len,leg,splits,tile_n,stages,stage1_warps,time_us\n";
  const auto replayed = [&](const std::string& rows) {
    return ReplaySource(parse_recording(head + rows, "f", {}), 0.0, 1).space();
  };
  const Space both = replayed(
      "1,12,8192,baseline,32,32,2,8,20\n"
      "70,12,8192,baseline,2,32,2,4,200\n");
  BOOST_TEST(both.costs().kernels.size() == 2u);  // one team and two, in groups of 16
  BOOST_TEST(both.neutral().stage1_warps == 8);
  const Space two_teams = replayed("1,12,8192,baseline,32,32,2,8,20\n");
  BOOST_TEST_REQUIRE(two_teams.costs().kernels.size() == 1u);  // of the other there is no time
  BOOST_TEST(two_teams.costs().kernels[0].config.stage1_warps == 8);
}

BOOST_AUTO_TEST_CASE(fields_and_knobs_that_a_file_lacks_match_any_value) {
  Recording recording = parse_recording(kHead + "time_us\n8,12,100,2,drain,5\n", "f", {});
  Problem problem = parse_problem("batch=8 nhead=12 seq_len=100 page_size=64");
  KernelConfig config;
  config.splits = 2;
  config.stage2_tiles = 4;
  BOOST_TEST(recording.find(problem, config) != nullptr);
  config.wait = Wait::kPartial;
  BOOST_TEST(recording.find(problem, config) == nullptr);
}

BOOST_AUTO_TEST_CASE(equal_configurations_are_repeats_and_each_sample_picks_one) {
  ReplaySource source(
      parse_recording(kHead + "time_us\n8,12,100,2,drain,5\n8,12,100,2,drain,9\n", "f", {}),
      0.0,
      1);
  source.select(parse_problem("batch=8 nhead=12 seq_len=100"), 1);
  KernelConfig config = source.space().neutral();
  config.splits = 2;
  int fast = 0;
  for (int32_t round = 0; round < 100; ++round) {
    const double time_us = source.sample(config, {db::Phase::kSearch, 0, round, 0}).time_us;
    BOOST_TEST((time_us == 5 || time_us == 9));
    fast += time_us == 5;
  }
  BOOST_TEST(fast > 20);
  BOOST_TEST(fast < 80);
}

BOOST_AUTO_TEST_CASE(a_sample_depends_on_its_id_and_not_on_the_calls_before_it) {
  const auto source = open_replay_source(MLA_TEST_ASSETS "/seed_levers.csv");
  source->select(problem_of(8), 1);
  KernelConfig config = source->space().neutral();
  config.splits = 32;
  const SampleId id{db::Phase::kFinal, 0, 3, 1}, other{db::Phase::kFinal, 0, 3, 2};
  const double time_us = source->sample(config, id).time_us;
  BOOST_TEST(source->sample(config, other).time_us != time_us);
  BOOST_TEST(source->sample(config, id).time_us == time_us);
}

BOOST_AUTO_TEST_CASE(what_was_not_recorded_is_an_outcome_and_not_listed) {
  const auto source = open_replay_source(MLA_TEST_ASSETS "/seed_levers.csv");
  BOOST_TEST(source->info().relative_times);
  source->select(problem_of(8), 1);
  KernelConfig config = source->space().neutral();
  config.splits = 3;
  BOOST_TEST((source->admit(config, true).kind == OutcomeKind::kNotRecorded));
  const Space::Listing listing = source->list(problem_of(8));
  BOOST_TEST(listing.configs.size() == 5U);
  BOOST_TEST(listing.pruned.at("not_recorded") > 0);
}

BOOST_AUTO_TEST_CASE(dose_response_is_negative_at_32_and_64_splits_of_batch_8_only) {
  const auto source = open_replay_source(MLA_TEST_ASSETS "/seed_dose_response.csv");
  for (const int batch : {8, 48})
    for (const int splits : {2, 4, 8, 16, 32, 64, 128, 256}) {
      const bool negative = batch == 8 && (splits == 32 || splits == 64);
      const double gain = partial_gain(*source, batch, splits);
      BOOST_TEST((gain < 0) == negative, batch << " " << splits << " " << gain);
    }
}

BOOST_AUTO_TEST_CASE(times_of_another_split_count_are_not_compared_where_each_has_its_own_unit) {
  const auto source = open_replay_source(MLA_TEST_ASSETS "/seed_dose_response.csv");
  source->select(problem_of(8), 1);
  KernelConfig config = source->space().neutral();
  config.splits = 32;
  BOOST_TEST(source->admit(config, true).ok());
  config.splits = 64;
  const Outcome outcome = source->admit(config, false);
  BOOST_TEST((outcome.kind == OutcomeKind::kNotRecorded));
  BOOST_TEST(outcome.text.find("one split count") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(mistakes_in_a_spec_name_the_option) {
  const std::string file = MLA_TEST_ASSETS "/seed_levers.csv";
  for (const std::string bad :
       {",noise=x", ",noise=200%", ",sed=1", ",seed", ",cus=0", ",seed=1,seed=2"})
    BOOST_CHECK_THROW(open_replay_source(file + bad), Error);
  BOOST_CHECK_THROW(open_replay_source("no/such/file.csv"), Error);
  BOOST_CHECK_THROW(open_replay_source(MLA_TEST_ASSETS), Error);
  BOOST_CHECK_THROW(open_replay_source(""), Error);
  BOOST_CHECK_THROW(open_replay_source(std::string(5000, 'x')), Error);  // no file name is so long
}

// SPDX-License-Identifier: MIT
// A run in parts: which part a process takes, and what the parts give together.
#define BOOST_TEST_MODULE tools_shard
#include "tools/shard.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/error.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

using namespace mla::tools;
using mla::testing::Environment;
using mla::testing::ProgramOptions;
using mla::testing::ProgramResult;
using mla::testing::TemporaryDirectory;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

namespace {

constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "SLURM_PROCID",
                                          "SLURM_STEP_NUM_TASKS",
                                          "SLURM_NTASKS"};

struct Fixture {
  Fixture() {  // the tests themselves may be started by any of these
    for (const char* name : kRankVariables) unsetenv(name);
  }
};

std::string text(const ChosenShard& chosen) {
  return std::to_string(chosen.shard.index) + "/" + std::to_string(chosen.shard.count) + " " +
         chosen.variable;
}

std::string error_of(const Options& options) {
  try {
    chosen_shard(options);
  } catch (const mla::Error& error) {
    return error.what();
  }
  return "accepted";
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
  return found;
}

Words run_words(const std::string& database, const Words& more) {
  Words args = {"run",
                "--device",
                "analytic:copies=8,faster=5%",
                "--batch",
                "4,8,16,24,32",
                "--seq-len",
                "68000",
                "--db",
                database,
                "--no-progress",
                "--json"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard, Fixture)

BOOST_AUTO_TEST_CASE(every_shape_is_in_exactly_one_part) {
  std::vector<mla::Problem> all(10);
  for (size_t i = 0; i < all.size(); ++i) all[i].batch = static_cast<int32_t>(i + 1);
  for (const int64_t count : {1, 3, 4, 10, 17}) {
    std::multiset<int32_t> seen;
    for (int64_t index = 0; index < count; ++index)
      for (const mla::Problem& problem : part_of(all, {index, count})) seen.insert(problem.batch);
    BOOST_TEST(seen.size() == all.size());
    BOOST_TEST(std::set<int32_t>(seen.begin(), seen.end()).size() == all.size());
  }
}

BOOST_AUTO_TEST_CASE(each_part_has_a_database_of_its_own_beside_the_one_of_all) {
  BOOST_TEST(shard_database("dir/tuning.db", {1, 4}) == "dir/tuning.1-of-4.db");
  BOOST_TEST(shard_database("a.b/tuning", {0, 2}) == "a.b/tuning.0-of-2");
  BOOST_TEST(shard_database("tuning.db", {0, 1}) == "tuning.db");
}

BOOST_AUTO_TEST_CASE(the_rank_comes_from_the_launcher_and_mpi_within_slurm_before_slurm) {
  BOOST_TEST(text(chosen_shard({})) == "0/1 ");
  const Environment task("SLURM_PROCID", "2"), job("SLURM_NTASKS", "8");
  BOOST_TEST(text(chosen_shard({})) == "2/8 SLURM_PROCID");
  const Environment step("SLURM_STEP_NUM_TASKS", "4");
  BOOST_TEST(text(chosen_shard({})) == "2/4 SLURM_PROCID");
  const Environment pmi_rank("PMI_RANK", "1"), pmi_size("PMI_SIZE", "3");
  BOOST_TEST(text(chosen_shard({})) == "1/3 PMI_RANK");
  const Environment rank("OMPI_COMM_WORLD_RANK", "5"), size("OMPI_COMM_WORLD_SIZE", "6");
  BOOST_TEST(text(chosen_shard({})) == "5/6 OMPI_COMM_WORLD_RANK");
  Options given;
  given.shard = Shard{0, 2};
  BOOST_TEST(text(chosen_shard(given)) == "0/2 ");
}

BOOST_AUTO_TEST_CASE(a_variable_that_holds_no_rank_is_named_with_the_way_out) {
  const Environment rank("PMI_RANK", "4"), size("PMI_SIZE", "4");
  BOOST_TEST(error_of({}) ==
             "PMI_RANK=4 PMI_SIZE=4: 4 is not in 0..3; --shard 0/1 tunes everything");
}

BOOST_AUTO_TEST_CASE(a_shard_is_written_index_slash_count) {
  const auto error = [](const std::string& value) {
    try {
      parse_options({"run", "--shard", value});
    } catch (const mla::Error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  BOOST_TEST(error("3/4") == "accepted");
  BOOST_TEST(error("4/4") == "--shard: 4 is not in 0..3");
  BOOST_TEST(error("4") == "--shard: '4' is not I/N, such as 0/4");
  BOOST_TEST(error("0/0") == "--shard: 0 is not in 1..100000");
}

BOOST_AUTO_TEST_CASE(merged_parts_are_the_whole_and_a_last_run_measures_only_what_lies_between) {
  TemporaryDirectory directory;
  const std::string whole = directory.file("tuning.db");
  Words merge = {"db", "merge", "--db", whole};
  for (const char* index : {"0", "1", "2"}) {
    const ProgramResult part =
        mla::testing::run(run_words(whole, {"--shard", std::string(index) + "/3"}));
    BOOST_TEST_REQUIRE(part.status == 0, part.err);
    BOOST_TEST(part.err.find("shard " + std::string(index) + "/3: ") != std::string::npos,
               part.err);
    merge.insert(merge.end(),
                 {"--from", directory.file("tuning." + std::string(index) + "-of-3.db")});
  }
  BOOST_TEST(!std::filesystem::exists(whole));
  BOOST_TEST(mla::testing::run(merge).status == 0);

  const ProgramResult last = mla::testing::run(run_words(whole, {"--shard", "0/1"}));
  const Json document = Json::parse(last.out);
  BOOST_TEST(document["shapes"].size() == 5u);
  BOOST_TEST(count(last.err, "already tuned") == 5);
  BOOST_TEST(document["crossing"]["planned"] > 0);

  const ProgramResult alone = mla::testing::run(run_words(directory.file("alone.db"), {}));
  const Json expected = Json::parse(alone.out);
  for (size_t i = 0; i < 5; ++i)
    BOOST_TEST(document["shapes"][i]["config"] == expected["shapes"][i]["config"]);
}

BOOST_AUTO_TEST_CASE(a_rank_beyond_the_shapes_has_nothing_to_do_and_does_not_fail) {
  TemporaryDirectory directory;
  const std::string whole = directory.file("tuning.db");
  const ProgramOptions rank = {
      .environment = {{"OMPI_COMM_WORLD_RANK", "6"}, {"OMPI_COMM_WORLD_SIZE", "8"}}};
  const ProgramResult idle = mla::testing::run(run_words(whole, {}), rank);
  BOOST_TEST(idle.status == 0, idle.err);
  BOOST_TEST(idle.err.find("shard 6/8 (OMPI_COMM_WORLD_RANK): 0 of 5 shapes") != std::string::npos,
             idle.err);
  const ProgramResult merged = mla::testing::run(
      {"db", "merge", "--db", whole, "--from", directory.file("tuning.6-of-8.db")});
  BOOST_TEST(merged.status == 0, merged.err);
}

BOOST_AUTO_TEST_CASE(two_devices_of_this_host_share_the_shapes) {
  TemporaryDirectory directory;
  const std::string database = directory.file("tuning.db");
  const Words both = {"run",
                      "--device",
                      "cpu:threads=1",
                      "--device",
                      "cpu:threads=1",
                      "--nhead",
                      "2",
                      "--batch",
                      "1,2",
                      "--seq-len",
                      "64,128",
                      "--max-configs",
                      "4",
                      "--db",
                      database,
                      "--json",
                      "--no-progress"};
  const ProgramResult result = mla::testing::run(both);
  BOOST_TEST_REQUIRE(result.status == 0, result.err);
  const Json document = Json::parse(result.out);
  BOOST_TEST(document["device_specs"] == Json({"cpu:threads=1", "cpu:threads=1"}));
  BOOST_TEST(document["shapes"].size() == 4u);
  for (const Json& shape : document["shapes"]) BOOST_TEST(shape.contains("verdict"));
  // A session of each device, and one over all shapes for what lies between them.
  const Json info = Json::parse(mla::testing::run({"db", "info", "--db", database, "--json"}).out);
  BOOST_TEST(info["runs"] == 3, info);
}

BOOST_AUTO_TEST_CASE(a_device_list_that_cannot_be_meant_is_named) {
  TemporaryDirectory directory;
  const std::string database = directory.file("tuning.db");
  const auto refused = [&](const std::string& first, const std::string& second) {
    return mla::testing::run({"run", "--device", first, "--device", second, "--db", database}).err;
  };
  BOOST_TEST(refused("analytic:cus=256", "analytic:cus=132").find("are tuned apart") !=
             std::string::npos);
  BOOST_TEST(mla::testing::run({"lookup", "--device", "cpu", "--device", "cpu"}).err ==
             "mla-tune lookup: --device: given twice\n");
}

BOOST_AUTO_TEST_SUITE_END()

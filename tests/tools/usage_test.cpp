// SPDX-License-Identifier: MIT
// What the program says to wrong and to harmless command lines: one line that names the thing, and
// the documented exit status.
#define BOOST_TEST_MODULE tools_usage
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

namespace {

using namespace mla::testing;
using Words = std::vector<std::string>;

void expect_error(const Words& args,
                  int status,
                  const std::string& line,
                  const ProgramOptions& options = {}) {
  const ProgramResult result = run(args, options);
  BOOST_TEST(result.status == status, result.err);
  BOOST_TEST(result.err == line + "\n");
  BOOST_TEST(result.out == "");
}

// Whether a shell that is installed here reads the script without complaint.
int syntax_status(const std::string& shell, const std::string& script) {
  TemporaryDirectory directory;
  const std::string path = directory.file("completion");
  std::ofstream(path) << script;
  return std::system((shell + " -n '" + path + "'").c_str());
}

bool installed(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(usage_errors_are_one_line_that_names_the_option_and_the_value) {
  expect_error({}, 2, "mla-tune: a verb is missing; see mla-tune --help");
  expect_error(
      {"rnu"}, 2, "mla-tune: 'rnu' is not a verb, did you mean 'run'?; see mla-tune --help");
  expect_error({"run", "--batch", "-3"}, 2, "mla-tune run: --batch: -3 is not in 1..65535");
  expect_error(
      {"run", "--bathc", "3"}, 2, "mla-tune run: --bathc: unknown option, did you mean '--batch'?");
  expect_error(
      {"run", "--preset", "quik"},
      2,
      "mla-tune run: --preset: 'quik' is not one of quick, seed, serving, grid, roof, did you mean "
      "'quick'?");
  expect_error({"run", "--kv-dtype", "fp4"},
               2,
               "mla-tune run: --kv-dtype: 'fp4' is not one of bf16, fp8, did you mean 'fp8'?");
  expect_error({"run", "--shared-prefix", "100", "--seq-len", "50", "--device", "analytic"},
               2,
               "mla-tune run: shared_prefix: 100 is not in 0..50",
               {.environment = {{"HOME", "/nonexistent"}}});
  expect_error({"lookup", "--shared-prefix", "100", "--db", "/nonexistent/x.db"},
               2,
               "mla-tune lookup: --shared-prefix: needs --seq-len, of which it is a part");
  expect_error({"run", "--preset", "roof", "--device", "analytic", "--db", "/nonexistent/x.db"},
               2,
               "mla-tune run: --preset: roof is for bench");
  expect_error({"bench", "--device", "analytic"},
               2,
               "mla-tune bench: 'analytic' has no machine to measure; give --config to compare");
}

BOOST_AUTO_TEST_CASE(a_configuration_that_no_shape_allows_is_a_usage_error_and_no_empty_run) {
  TemporaryDirectory directory;
  const Words run = {"run", "--device", "analytic", "--db", directory.file("a.db"), "--config"};
  const auto refused = [&](const std::string& config, const std::string& batch) {
    Words args = run;
    args.insert(args.end(), {config, "--batch", batch, "-q"});
    return mla::testing::run(args);
  };
  const ProgramResult result = refused("splits=5000", "8");
  BOOST_TEST(result.status == 2);
  BOOST_TEST(result.err ==
             "mla-tune run: --config: 'splits=5000': splits=5000 is not legal here; the nearest is "
             "1024\n");
  BOOST_TEST(refused("splits=8 order=split_major", "1").status == 2);
  BOOST_TEST(refused("splits=8 order=split_major", "1,8").status == 0);  // legal for one of them
}

BOOST_AUTO_TEST_CASE(the_roof_preset_refuses_what_it_cannot_measure) {
  expect_error({"bench", "--preset", "roof", "--device", "analytic"},
               2,
               "mla-tune bench: 'analytic' has no machine to measure");
  expect_error({"bench", "--preset", "roof", "--device", "cpu", "--batch", "7"},
               2,
               "mla-tune bench: --preset roof: holds no such shape");
  expect_error(
      {"bench", "--preset", "roof", "--device", "cpu", "--q-len", "2"},
      2,
      "mla-tune bench: --preset roof: its shapes are chosen by --batch, --nhead, --seq-len, "
      "--page-size, --kv-dtype");
  expect_error({"bench", "--db", "x.db", "--device", "cpu"},
               2,
               "mla-tune bench: --db: only --preset roof times what a database holds");
}

BOOST_AUTO_TEST_CASE(the_bench_of_lookups_refuses_options_that_it_would_ignore) {
  const std::vector<Words> ignored = {{"--batch", "3"},
                                      {"--device", "cpu"},
                                      {"--db", "x"},
                                      {"--config", "splits=2"},
                                      {"--rounds", "20"}};
  for (const Words& option : ignored) {
    Words args = {"bench", "lookup"};
    args.insert(args.end(), option.begin(), option.end());
    expect_error(
        args, 2, "mla-tune bench: lookup: takes no shape, --device, --db, --config or --rounds");
  }
}

BOOST_AUTO_TEST_CASE(an_interrupted_bench_of_lookups_removes_its_databases) {
  TemporaryDirectory directory;
  Program bench({"bench", "lookup"}, {.environment = {{"TMPDIR", directory.path().string()}}});
  BOOST_REQUIRE(bench.wait_for_error_text("timing lookups among 256 winners"));
  bench.signal(SIGINT);
  BOOST_TEST(bench.wait().status == 130);
  BOOST_TEST(std::filesystem::is_empty(directory.path()));
}

BOOST_AUTO_TEST_CASE(without_a_home_the_program_asks_for_a_database) {
  expect_error(
      {"report"}, 2, "mla-tune report: --db: needed, since neither MLA_TUNE_DB nor HOME is set");
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_understood_is_a_usage_error_that_names_it) {
  const ProgramResult result = run({"run", "--device", "tpu:0", "--db", "/nonexistent/x.db"});
  BOOST_TEST(result.status == 2);
  BOOST_TEST(result.err.find("tpu:0") != std::string::npos, result.err);
  BOOST_TEST(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

BOOST_AUTO_TEST_CASE(a_recording_that_is_missing_is_named) {
  const ProgramResult result =
      run({"run", "--device", "replay:/nonexistent.csv", "--db", "/nonexistent/x.db"});
  BOOST_TEST(result.status == 2);
  BOOST_TEST(result.err.find("/nonexistent.csv") != std::string::npos, result.err);
}

BOOST_AUTO_TEST_CASE(a_replay_device_without_a_file_is_told_how_it_is_written) {
  for (const char* device : {"replay", "replay:"}) {
    const ProgramResult result = run({"space", "--device", device});
    BOOST_TEST(result.status == 2);
    BOOST_TEST(result.err.find("replay:FILE") != std::string::npos, result.err);
  }
}

BOOST_AUTO_TEST_CASE(help_and_version_succeed_on_standard_output) {
  for (const Words& args : {Words{"--help"},
                            Words{"--version"},
                            Words{"run", "--help"},
                            Words{"db", "-h"},
                            Words{"completion", "--help"}}) {
    const ProgramResult result = run(args);
    BOOST_TEST(result.status == 0, args.front());
    BOOST_TEST(result.out.find("mla-tune") != std::string::npos);
    BOOST_TEST(result.err == "");
  }
}

BOOST_AUTO_TEST_CASE(help_of_a_verb_is_the_same_in_either_order) {
  BOOST_TEST(run({"help", "run"}).out == run({"run", "--help"}).out);
  BOOST_TEST(run({"--help", "db"}).out == run({"db", "--help"}).out);
  expect_error({"help", "rnu"},
               2,
               "mla-tune: 'rnu' is not a verb, did you mean 'run'?; see mla-tune --help");
}

BOOST_AUTO_TEST_CASE(help_documents_every_exit_status) {
  const std::string text = run({"--help"}).out;
  for (const char* status :
       {"  0 ", "  1 ", "  2 ", "  3 ", "  4 ", "  5 ", "  70 ", "  130, 143 "}) {
    BOOST_TEST(text.find(status) != std::string::npos, status);
  }
}

BOOST_AUTO_TEST_CASE(a_result_that_cannot_be_written_is_no_success) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) return;  // not every system has it
  std::fclose(full);
  const std::string command = std::string(MLA_TUNE_PROGRAM) + " --help >/dev/full 2>/dev/null";
  BOOST_TEST(WEXITSTATUS(std::system(command.c_str())) == 70);
}

BOOST_AUTO_TEST_CASE(a_closed_standard_error_ends_neither_a_run_nor_an_error_message) {
  TemporaryDirectory directory;
  const auto status = [](const std::string& command) {
    return WEXITSTATUS(std::system((MLA_TUNE_PROGRAM " " + command + " >/dev/null 2>&-").c_str()));
  };
  BOOST_TEST(status("run --device analytic:copies=2 --db '" + directory.file("a.db") + "'") == 0);
  BOOST_TEST(status("db check --db '" + directory.file("a.db") + "'") == 0);
  BOOST_TEST(status("rnu") == 2);
}

BOOST_AUTO_TEST_CASE(completion_scripts_are_correct_shell_and_offer_verbs_and_options) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const ProgramResult result = run({"completion", shell});
    BOOST_TEST(result.status == 0);
    BOOST_TEST(result.out.find("lookup") != std::string::npos);
    BOOST_TEST(result.out.find("shared-prefix") != std::string::npos);
    if (installed(shell)) BOOST_TEST(syntax_status(shell, result.out) == 0, shell);
  }
}

BOOST_AUTO_TEST_CASE(bash_completes_a_choice_from_the_option_table) {
  TemporaryDirectory directory;
  const std::string path = directory.file("script");
  std::ofstream(path) << run({"completion", "bash"}).out
                      << "COMP_WORDS=(mla-tune run --preset se) COMP_CWORD=3\n_mla_tune\n"
                         "test \"${COMPREPLY[*]}\" = 'seed serving'\n";
  // "se" is where "seed" and "serving" part.
  BOOST_TEST(std::system(("bash '" + path + "'").c_str()) == 0);
}

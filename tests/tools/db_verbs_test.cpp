// SPDX-License-Identifier: MIT
// The actions of `mla-tune db` through the program: tuned on a simulated device, moved around, and
// answered from by a lookup.
#define BOOST_TEST_MODULE tools_db_verbs
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

using namespace mla::testing;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kDevice = "analytic:copies=2";

struct Fixture {
  std::string tuned(const std::string& name, const std::string& batch) {
    const std::string path = directory.file(name);
    expect(0,
           {"run", "--device", kDevice, "--batch", batch, "--seq-len", "1024", "--db", path, "-q"});
    return path;
  }

  ProgramResult expect(int status, const Words& args, const ProgramOptions& options = {}) {
    const ProgramResult result = run(args, options);
    BOOST_TEST(result.status == status, args[0] << " " << args[1] << ": " << result.err);
    return result;
  }

  void expect_usage(const Words& args, const std::string& line) {
    BOOST_TEST(expect(2, args).err == "mla-tune db: " + line + "\n");
  }

  // Whether a lookup at this batch comes from a database.
  bool answers(const Words& databases, const std::string& batch, const ProgramOptions& as = {}) {
    Words args = {"lookup", "--device", kDevice, "--batch", batch, "--seq-len", "1024", "--strict"};
    for (const std::string& database : databases) args.insert(args.end(), {"--db", database});
    return run(args, as).status == 0;
  }

  TemporaryDirectory directory;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(db_verbs, Fixture)

BOOST_AUTO_TEST_CASE(a_shipped_file_answers_from_a_read_only_directory_as_any_user) {
  const std::string source = tuned("tuning.db", "1");
  const std::string folder = directory.file("image");
  std::filesystem::create_directory(folder);
  const std::string shipped = folder + "/shipped.db";
  expect(0, {"db", "ship", "--db", source, "-o", shipped});
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder, std::filesystem::perms(0555));
  ProgramOptions other_user;
  other_user.unprivileged = true;
  BOOST_TEST(answers({shipped}, "1", other_user));
  BOOST_TEST(
      expect(0, {"db", "check", "--db", shipped}, other_user).out.find("is what was shipped") !=
      std::string::npos);
  BOOST_TEST(expect(0, {"db", "info", "--db", shipped}).out.find("shipped by  mla-tune ") !=
             std::string::npos);
  BOOST_TEST(expect(4, {"db", "ship", "--db", source, "-o", shipped}).err.find("exists") !=
             std::string::npos);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
}

BOOST_AUTO_TEST_CASE(exported_winners_answer_where_they_are_imported) {
  const std::string source = tuned("tuning.db", "1,2");
  const std::string text = directory.file("winners.txt"), fresh = directory.file("fresh.db");
  expect(0, {"db", "export", "--db", source, "-o", text});
  expect(0, {"db", "import", "--from", text, "--db", fresh});
  BOOST_TEST(answers({fresh}, "2"));
  BOOST_TEST(expect(0, {"db", "export", "--db", fresh}).out == contents(text));
  BOOST_TEST(expect(0, {"db", "export", "--db", fresh, "-o", "-"}).out == contents(text));
  BOOST_TEST(expect(0, {"db", "diff", "--db", source, "--db", fresh}).out == "0 shapes differ\n");
}

BOOST_AUTO_TEST_CASE(a_difference_is_listed_with_both_answers_and_exit_status_1) {
  const std::string before = tuned("before.db", "1,2"), after = tuned("after.db", "2,4");
  const std::string out = expect(1, {"db", "diff", "--db", before, "--db", after}).out;
  BOOST_TEST(out.find("batch=1 nhead=12 seq_len=1024\n  - ") != std::string::npos, out);
  BOOST_TEST(out.find("batch=4 nhead=12 seq_len=1024\n  + ") != std::string::npos, out);
}

BOOST_AUTO_TEST_CASE(info_of_several_files_shows_which_one_answers) {
  const std::string system = tuned("system.db", "1,2"), own = tuned("own.db", "2,4");
  BOOST_TEST(answers({system, own}, "1"));
  BOOST_TEST(answers({system, own}, "4"));
  const std::string out = expect(0, {"db", "info", "--db", system, "--db", own}).out;
  BOOST_TEST(out.find("0       2        1  " + system) != std::string::npos, out);
  BOOST_TEST(out.find("1       2        2  " + own) != std::string::npos, out);
  const std::string all = expect(0, {"db", "info", "--db", system, "--db", own, "-v"}).out;
  BOOST_TEST(all.find("1      1  batch=2 ") != std::string::npos, all);
  const ProgramResult one_lost =
      expect(0, {"db", "info", "--db", "/nonexistent/x.db", "--db", own});
  BOOST_TEST(one_lost.err.find("/nonexistent/x.db") != std::string::npos);
  BOOST_TEST(one_lost.out.find("1       2        2  " + own) != std::string::npos, one_lost.out);
}

BOOST_AUTO_TEST_CASE(check_lists_the_rows_that_a_device_cannot_use_and_the_fields_that_differ) {
  const std::string database = tuned("tuning.db", "1,2");
  const auto checked = [&](const std::string& device) {
    return expect(0, {"db", "check", "--db", database, "--device", device}).out;
  };
  BOOST_TEST(
      checked(kDevice).find("2 rows answer, 0 of them to be verified again; 0 unreachable") !=
          std::string::npos,
      checked(kDevice));
  const std::string other = checked("analytic:cus=132,xcds=8");
  BOOST_TEST(other.find("compute_units  132") != std::string::npos, other);
  BOOST_TEST(other.find("2  rejected") != std::string::npos, other);
  BOOST_TEST(
      other.find("batch=2 nhead=12 seq_len=1024  compute_units 256, here 132") != std::string::npos,
      other);
  BOOST_TEST(other.find("0 rows answer, 0 of them to be verified again; 2 unreachable") !=
             std::string::npos);
  const std::string json =
      expect(0, {"db", "check", "--db", database, "--device", "analytic:cus=132,xcds=8", "--json"})
          .out;
  BOOST_TEST(json.find("\"reason\": \"compute_units 256, here 132\"") != std::string::npos, json);
}

BOOST_AUTO_TEST_CASE(a_system_file_answers_below_the_users_own_and_info_says_which) {
  std::filesystem::create_directories(directory.path() / "system/mla-tune");
  std::filesystem::rename(tuned("a.db", "1,2"), directory.path() / "system/mla-tune/tuned.db");
  ProgramOptions as;
  as.environment = {{"XDG_DATA_DIRS", directory.file("system")},
                    {"XDG_DATA_HOME", directory.file("home")}};
  BOOST_TEST(answers({}, "1", as));
  expect(0, {"run", "--device", kDevice, "--batch", "2", "--seq-len", "1024", "-q"}, as);
  const std::string own = directory.file("home/mla-tune/tuning.db");
  BOOST_TEST(std::filesystem::exists(own));
  const std::string out = expect(0, {"db", "info", "-v"}, as).out;
  BOOST_TEST(out.find("0       2        1  " + directory.file("system/mla-tune/tuned.db")) !=
                 std::string::npos,
             out);
  BOOST_TEST(out.find("1       1        1  " + own) != std::string::npos, out);
  BOOST_TEST(out.find("1      1  batch=2 ") != std::string::npos, out);
}

BOOST_AUTO_TEST_CASE(merged_files_answer_the_shapes_of_both) {
  const std::string one = tuned("one.db", "1"), two = tuned("two.db", "2");
  const std::string all = directory.file("all.db");
  expect(0, {"db", "merge", "--from", one, "--from", two, "--db", all});
  BOOST_TEST(answers({all}, "1"));
  BOOST_TEST(answers({all}, "2"));
  BOOST_TEST(expect(0, {"db", "merge", "--from", one, "--db", all}).out.find("0 tunings added") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(pruning_keeps_the_answers) {
  const std::string database = tuned("tuning.db", "1");
  expect(0,
         {"run",
          "--device",
          kDevice,
          "--batch",
          "1",
          "--seq-len",
          "1024",
          "--db",
          database,
          "-q",
          "--retune"});
  BOOST_TEST(
      expect(0, {"db", "prune", "--db", database, "-n"}).out.rfind("would be removed: ", 0) == 0u);
  BOOST_TEST(expect(0, {"db", "prune", "--db", database}).out.rfind("removed: ", 0) == 0u);
  BOOST_TEST(answers({database}, "1"));
  expect(0, {"db", "check", "--db", database});
}

BOOST_AUTO_TEST_CASE(misses_become_a_list_that_a_run_tunes) {
  const std::string misses = directory.file("misses.txt"), shapes = directory.file("shapes.txt");
  std::ofstream(misses) << "# mla-tune misses 1: all_time_us=100.000 forgotten=0\n"
                           "5\t25.000\tbatch=2 nhead=12 seq_len=1024\n"
                           "9\t75.000\tbatch=4 nhead=12 seq_len=1024\n";
  const std::string out = expect(0, {"db", "miss", "--from", misses, "-o", shapes}).out;
  BOOST_TEST(out.find("75.0 %") < out.find("25.0 %"), out);
  const std::string database = directory.file("tuning.db");
  expect(0, {"run", "--device", kDevice, "--from", shapes, "--db", database, "-q"});
  BOOST_TEST(answers({database}, "2"));
  BOOST_TEST(answers({database}, "4"));
  BOOST_TEST(
      expect(2, {"run", "--device", kDevice, "--from", shapes, "--batch", "3", "--db", database})
          .err == "mla-tune run: --from: not together with other shape options\n");
}

BOOST_AUTO_TEST_CASE(output_to_a_dash_is_standard_output_and_no_file) {
  const std::string misses = directory.file("misses.txt");
  std::ofstream(misses) << "# mla-tune misses 1: all_time_us=100.000 forgotten=0\n"
                           "5\t25.000\tbatch=2 nhead=12 seq_len=1024\n";
  const std::string out = expect(0, {"db", "miss", "--from", misses, "-o", "-"}).out;
  BOOST_TEST(out ==
             "# Shapes that no database answered, the largest share first.\n"
             "batch=2 nhead=12 seq_len=1024  # 25.0 % of the time\n");
  expect_usage({"db", "ship", "--db", tuned("tuning.db", "1"), "-o", "-"},
               "ship: needs --output FILE");
  BOOST_TEST(!std::filesystem::exists("-"));
}

BOOST_AUTO_TEST_CASE(migrating_a_current_file_changes_nothing_and_a_missing_one_is_not_created) {
  const std::string database = tuned("tuning.db", "1");
  const std::string before = contents(database);
  expect(0, {"db", "migrate", "--db", database});
  BOOST_TEST(contents(database) == before);
  const std::string missing = directory.file("missing.db");
  expect(4, {"db", "migrate", "--db", missing});
  BOOST_TEST(!std::filesystem::exists(missing));
}

BOOST_AUTO_TEST_CASE(an_action_refuses_what_it_has_no_use_for_and_names_what_it_lacks) {
  expect_usage({"db", "ship", "--db", "x.db"}, "ship: needs --output FILE");
  expect_usage({"db", "import", "--db", "x.db"}, "import: needs --from FILE");
  expect_usage({"db", "miss"}, "miss: needs --from FILE");
  expect_usage({"db", "diff", "--db", "x.db"}, "diff: needs --db BEFORE --db AFTER");
  expect_usage({"db", "check", "--from", "x"}, "check: takes no --from");
  expect_usage({"db", "prune", "-o", "x"}, "prune: takes no --output");
  expect_usage({"db", "export", "--json"}, "export: takes no --json");
  expect_usage({"db", "ship", "-n"}, "ship: takes no --dry-run");
  expect_usage({"db", "info", "--device", "cpu"}, "info: takes no --device");
  expect_usage({"db", "miss", "--from", "/nonexistent/m"},
               "cannot read /nonexistent/m: No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()

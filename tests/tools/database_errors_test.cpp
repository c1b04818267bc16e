// SPDX-License-Identifier: MIT
// Databases that cannot be used: one line that names the file and exit status 4 from the verbs that
// need it; a warning and the default policy from lookup.
#define BOOST_TEST_MODULE tools_database_errors
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

namespace {

using namespace mla::testing;
using Words = std::vector<std::string>;

constexpr const char* kDevice = "analytic:copies=2";

Words run_words(const std::string& database) {
  return {"run", "--device", kDevice, "--batch", "1", "--seq-len", "1024", "--db", database, "-q"};
}

void expect_refused(const Words& args,
                    const std::string& database,
                    const ProgramOptions& options = {}) {
  const ProgramResult result = run(args, options);
  BOOST_TEST(result.status == 4, args.front() << ": " << result.err);
  BOOST_TEST(result.err.find(database) != std::string::npos, result.err);
  BOOST_TEST(std::count(result.err.begin(), result.err.end(), '\n') == 1, result.err);
  BOOST_TEST(result.err.rfind("mla-tune " + args.front() + ": ", 0) == 0, result.err);
}

void expect_default_with_a_warning(const std::string& database) {
  const ProgramResult result = run({"lookup",
                                    "--device",
                                    kDevice,
                                    "--batch",
                                    "1",
                                    "--seq-len",
                                    "1024",
                                    "--db",
                                    database,
                                    "--json"});
  BOOST_TEST(result.status == 0, result.err);
  BOOST_TEST(result.out.find("\"source\": \"default\"") != std::string::npos, result.out);
  BOOST_TEST(std::count(result.err.begin(), result.err.end(), '\n') == 1, result.err);
  BOOST_TEST(result.err.find("warning") != std::string::npos);
}

void expect_unusable(const std::string& database) {
  expect_refused(run_words(database), database);
  expect_refused({"report", "--db", database}, database);
  expect_refused({"db", "info", "--db", database}, database);
  expect_default_with_a_warning(database);
}

std::string sound_database(const TemporaryDirectory& directory) {
  const std::string path = directory.file("tuning.db");
  const ProgramResult result = run(run_words(path));
  BOOST_REQUIRE_MESSAGE(result.status == 0, result.err);
  return path;
}

void patch(const std::string& path, std::streamoff offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_file_of_noise_is_refused) {
  TemporaryDirectory directory;
  const std::string path = directory.file("noise.db");
  std::ofstream(path) << std::string(5000, 'x');
  expect_unusable(path);
}

BOOST_AUTO_TEST_CASE(a_directory_is_refused) {
  TemporaryDirectory directory;
  expect_unusable(directory.path().string());
}

BOOST_AUTO_TEST_CASE(a_database_of_another_application_is_refused) {
  TemporaryDirectory directory;
  const std::string path = sound_database(directory);
  patch(path, 68, "ABCD");  // application_id in SQLite's file header
  expect_unusable(path);
}

BOOST_AUTO_TEST_CASE(a_newer_schema_is_refused) {
  TemporaryDirectory directory;
  const std::string path = sound_database(directory);
  patch(path, 60, std::string("\0\0\0\x63", 4));  // user_version in SQLite's file header
  expect_unusable(path);
}

BOOST_AUTO_TEST_CASE(a_missing_file_cannot_be_reported_and_is_not_created) {
  TemporaryDirectory directory;
  const std::string path = directory.file("none.db");
  expect_refused({"report", "--db", path}, path);
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(a_read_only_directory_refuses_a_run_and_leaves_nothing) {
  TemporaryDirectory directory;
  const std::filesystem::path locked = directory.path() / "locked";
  std::filesystem::create_directory(locked);
  std::filesystem::permissions(
      locked, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const std::string path = (locked / "tuning.db").string();
  expect_refused(run_words(path), path, {.environment = {}, .unprivileged = true});
  BOOST_TEST(std::filesystem::is_empty(locked));
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_named_and_the_file_stays_sound) {
  TemporaryDirectory directory;
  const std::string path = sound_database(directory);
  Words more = run_words(path);
  more[4] = "1..4";
  const auto bytes = static_cast<long>(std::filesystem::file_size(path));
  expect_refused(more, path, {.environment = {}, .max_file_bytes = bytes + 4096});
  BOOST_TEST(run({"db", "check", "--db", path}).status == 0);
}

BOOST_AUTO_TEST_CASE(check_finds_damage_inside_a_file_that_opens) {
  TemporaryDirectory directory;
  const std::string path = sound_database(directory);
  BOOST_TEST(run({"db", "check", "--db", path}).status == 0);
  const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(path));
  for (std::streamoff page = 8192; page + 4096 <= bytes; page += 4096) {
    patch(path, page + 2048, std::string(64, '\xA5'));
  }
  const ProgramResult result = run({"db", "check", "--db", path});
  BOOST_TEST((result.status == 1 || result.status == 4), result.err);
}

BOOST_AUTO_TEST_CASE(a_colon_in_an_option_belongs_to_the_name_of_the_file) {
  TemporaryDirectory directory;
  const std::string path = directory.file("a:b.db");
  BOOST_REQUIRE(run(run_words(path)).status == 0);
  const ProgramResult found =
      run({"lookup", "--device", kDevice, "--seq-len", "1024", "--strict", "--db", path});
  BOOST_TEST(found.status == 0, found.err);
}

BOOST_AUTO_TEST_CASE(the_environment_names_the_database_and_the_option_beats_it) {
  TemporaryDirectory directory;
  const std::string path = sound_database(directory);
  const ProgramOptions variable = {.environment = {{"MLA_TUNE_DB", path}}};
  BOOST_TEST(run({"db", "info"}, variable).out.find(path) != std::string::npos);
  expect_refused(
      {"db", "info", "--db", directory.file("other.db")}, directory.file("other.db"), variable);
  const ProgramOptions data = {.environment = {{"XDG_DATA_HOME", directory.path().string()}}};
  expect_refused({"report"}, directory.file("mla-tune/tuning.db"), data);
}

// SPDX-License-Identifier: MIT
// The library and its files over months: reloads, files replaced under it, and the files that are
// found where none is named.
#define BOOST_TEST_MODULE policy_files
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "policy/default_files.h"
#include "tests/policy/abi_support.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace mla::testing;
namespace fs = std::filesystem;

namespace {

int64_t open_descriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

void write_database(const std::string& path, int32_t batch, const std::string& knobs) {
  TunedDatabase(path).add_winner(shape(batch, 68000), knobs);
}

// A home and a system of its own, so that the machine's files play no part.
struct Fixture {
  std::string folder(const std::string& name) const {
    fs::create_directories(directory.path() / name / "mla-tune");
    return directory.file(name);
  }
  bool answers(const OpenPolicy& policy, int32_t batch, int32_t tile_n) const {
    const mla_plan plan = policy.plan(abi_shape(batch, 68000));
    return plan.source == MLA_SOURCE_EXACT && plan.tile_n == tile_n;
  }

  TemporaryDirectory directory;
  std::string home = folder("home"), near = folder("near"), far = folder("far");
  Environment data_home{"XDG_DATA_HOME", home};
  Environment data_dirs{"XDG_DATA_DIRS", near + ":" + far};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(policy_files, Fixture)

BOOST_AUTO_TEST_CASE(a_thousand_reloads_leave_no_file_open) {
  const std::string path = directory.file("tuning.db");
  write_database(path, 16, "tile_n=32");
  const OpenPolicy policy({path, "/nonexistent/tuning.db"});
  const int64_t before = open_descriptors();
  for (int i = 0; i < 1000; ++i) mla_policy_reload(policy.get());
  BOOST_TEST(open_descriptors() == before);
  BOOST_TEST(answers(policy, 16, 32));
}

BOOST_AUTO_TEST_CASE(a_file_replaced_by_rename_is_read_at_the_next_reload_and_not_before) {
  const std::string path = directory.file("tuning.db"), fresh = directory.file("fresh.db");
  write_database(path, 16, "tile_n=32");
  write_database(fresh, 16, "tile_n=16");
  const OpenPolicy policy({path});
  fs::rename(fresh, path);
  BOOST_TEST(answers(policy, 16, 32));
  BOOST_TEST(mla_policy_reload(policy.get()) == MLA_OK);
  BOOST_TEST(answers(policy, 16, 16));
}

BOOST_AUTO_TEST_CASE(a_file_that_was_removed_keeps_answering_through_a_reload) {
  const std::string path = directory.file("tuning.db");
  write_database(path, 16, "tile_n=32");
  const OpenPolicy policy({path});
  fs::remove(path);
  BOOST_TEST(mla_policy_reload(policy.get()) == MLA_ERROR_DATABASE);
  BOOST_TEST(answers(policy, 16, 32));
}

BOOST_AUTO_TEST_CASE(system_files_answer_without_a_variable_and_the_users_own_overrides) {
  write_database(far + "/mla-tune/tuned.db", 8, "tile_n=32");
  write_database(far + "/mla-tune/tuned.db", 16, "tile_n=32");
  write_database(near + "/mla-tune/tuned.db", 16, "tile_n=16");
  BOOST_TEST(OpenPolicy().warnings() == 0, OpenPolicy().text());
  BOOST_TEST(answers(OpenPolicy(), 8, 32));
  BOOST_TEST(answers(OpenPolicy(), 16, 16));  // the folder that is named first
  write_database(home + "/mla-tune/tuning.db", 8, "tile_n=16");
  BOOST_TEST(answers(OpenPolicy(), 8, 16));
  BOOST_TEST(answers(OpenPolicy(), 16, 16));
}

BOOST_AUTO_TEST_CASE(a_variable_names_all_files_that_are_used) {
  write_database(far + "/mla-tune/tuned.db", 8, "tile_n=32");
  const std::string named = directory.file("named.db");
  write_database(named, 16, "tile_n=32");
  const Environment variable("MLA_TUNE_DB", named);
  BOOST_TEST(answers(OpenPolicy(), 16, 32));
  BOOST_TEST(!answers(OpenPolicy(), 8, 32));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_named_relatively_or_twice_counts_once_or_not) {
  write_database(far + "/mla-tune/tuned.db", 8, "tile_n=32");
  const Environment dirs("XDG_DATA_DIRS", "relative:" + far + ":" + far + "/../far");
  BOOST_TEST(mla::policy::system_databases().size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_home_there_is_no_file_of_the_users) {
  const Environment no_data_home("XDG_DATA_HOME", "");
  const Environment no_home("HOME", "");
  BOOST_TEST(mla::policy::user_database() == "");
  BOOST_TEST(OpenPolicy().status() == MLA_ERROR_DATABASE);
}

BOOST_AUTO_TEST_SUITE_END()

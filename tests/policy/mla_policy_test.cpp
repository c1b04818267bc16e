// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE mla_policy
#include "policy/mla_policy.h"

#include <sqlite3.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/policy/abi_support.h"
#include "tests/policy/c_abi.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace mla::testing;

namespace {

struct Fixture {
  Fixture() {
    unsetenv("MLA_TUNE_DB");
    unsetenv("MLA_TUNE_MODE");
    TunedDatabase(good).add_winner(shape(16, 68000), "wait=partial");
  }

  TemporaryDirectory directory;
  const std::string good = directory.file("good.db");
};

void execute_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  BOOST_REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  BOOST_REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

void check_default_with_one_warning(const OpenPolicy& policy, const std::string& named) {
  BOOST_TEST(policy.status() == MLA_ERROR_DATABASE);
  BOOST_TEST_REQUIRE(policy.get() != nullptr);
  const mla_plan plan = policy.plan(abi_shape(16, 68000));
  BOOST_TEST(plan.source_name == "default");
  BOOST_TEST(plan.splits == 16);
  BOOST_TEST(plan.wait == 0);
  BOOST_TEST(policy.warnings() == 1, policy.text());
  BOOST_TEST(policy.text().find(named) != std::string::npos, policy.text());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(c_abi, Fixture)

BOOST_AUTO_TEST_CASE(a_c99_program_gets_the_tuned_plan) {
  const char* const path = good.c_str();
  mla_plan plan{};
  BOOST_TEST(plan_from_c(&path, 1, &plan) == MLA_OK);
  BOOST_TEST(plan.splits == 16);
  BOOST_TEST(plan.tile_n == 64);
  BOOST_TEST(plan.stages == 2);
  BOOST_TEST(plan.wait == 1);
  BOOST_TEST(plan.order == 0);
  BOOST_TEST(plan.stage1_warps == 4);
  BOOST_TEST(plan.stage2_tiles == 2);
  BOOST_TEST(plan.stage2_warps == 4);
  BOOST_TEST(plan.schedule == 0);
  BOOST_TEST(plan.source == MLA_SOURCE_EXACT);
  BOOST_TEST(plan.source_name == "exact");
  BOOST_TEST(plan.database == 0);
  BOOST_TEST(plan.gain == 0.05f);
  BOOST_TEST(plan.expected_us == 100.0f);
  BOOST_TEST(plan.workspace_bytes == mla::workspace_bytes(16, 1, 12, 16));
  BOOST_TEST(plan.winner_id == 1);
}

BOOST_AUTO_TEST_CASE(the_version_is_that_of_the_header_and_of_the_project) {
  const std::string text = std::to_string(MLA_POLICY_VERSION_MAJOR) + "." +
                           std::to_string(MLA_POLICY_VERSION_MINOR) + "." +
                           std::to_string(MLA_POLICY_VERSION_PATCH);
  BOOST_TEST(text == MLA_PROJECT_VERSION);
  BOOST_TEST(mla_policy_version() == MLA_POLICY_VERSION_MAJOR * 10000u +
                                         MLA_POLICY_VERSION_MINOR * 100u +
                                         MLA_POLICY_VERSION_PATCH);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_database_is_one_warning_and_the_default) {
  const std::string path = directory.file("text.db");
  std::ofstream(path) << std::string(10'000, 'x');
  check_default_with_one_warning(OpenPolicy({path}), path);
}

BOOST_AUTO_TEST_CASE(a_truncated_database_is_one_warning_and_the_default) {
  const std::string path = directory.file("truncated.db");
  std::filesystem::copy_file(good, path);
  std::filesystem::resize_file(path, 5000);
  check_default_with_one_warning(OpenPolicy({path}), path);
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_one_warning_and_the_default_and_is_not_created) {
  const std::string path = directory.file("missing.db");
  check_default_with_one_warning(OpenPolicy({path}), path);
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(a_directory_is_one_warning_and_the_default) {
  check_default_with_one_warning(OpenPolicy({directory.path().string()}),
                                 directory.path().string());
}

BOOST_AUTO_TEST_CASE(a_database_of_another_application_is_one_warning_and_the_default) {
  const std::string path = directory.file("foreign.db");
  execute_sql(path,
              "PRAGMA application_id=7; CREATE TABLE winner(id); INSERT INTO winner VALUES(1)");
  check_default_with_one_warning(OpenPolicy({path}), path);
}

BOOST_AUTO_TEST_CASE(a_newer_schema_is_one_warning_and_the_default) {
  execute_sql(good, "PRAGMA user_version=99");
  check_default_with_one_warning(OpenPolicy({good}), "99");
}

BOOST_AUTO_TEST_CASE(no_path_at_all_is_one_warning_and_the_default) {
  const Environment no_home("XDG_DATA_HOME", "/nonexistent");
  const Environment no_system("XDG_DATA_DIRS", "/nonexistent");
  check_default_with_one_warning(OpenPolicy(), "MLA_TUNE_DB");
  check_default_with_one_warning(OpenPolicy(std::vector<std::string>{}), "no database given");
}

BOOST_AUTO_TEST_CASE(the_environment_names_the_databases_when_no_list_is_given) {
  const Environment list("MLA_TUNE_DB", ":" + good + "::");
  const OpenPolicy policy;
  BOOST_TEST(policy.status() == MLA_OK);
  BOOST_TEST(policy.warnings() == 0);
  BOOST_TEST(policy.plan(abi_shape(16, 68000)).source_name == "exact");
  BOOST_TEST(policy.text() == "1 tuned shapes for gfx950/256cu/8xcd");
}

BOOST_AUTO_TEST_CASE(an_unknown_mode_is_a_warning_and_lookups_stay_on) {
  const Environment mode("MLA_TUNE_MODE", "maybe");
  const OpenPolicy policy({good});
  BOOST_TEST(policy.warnings() == 1);
  BOOST_TEST(policy.plan(abi_shape(16, 68000)).source_name == "exact");
}

BOOST_AUTO_TEST_CASE(null_pointers_and_wrong_sizes_are_usage_errors_and_the_plan_stays_legal) {
  const OpenPolicy policy({good});
  mla_shape shape = abi_shape(16, 68000);
  mla_plan plan = empty_plan();
  BOOST_TEST(mla_policy_plan(nullptr, &shape, &plan) == MLA_ERROR_USAGE);
  BOOST_TEST(plan.splits == 0);
  BOOST_TEST(mla_policy_plan(policy.get(), &shape, nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_plan(policy.get(), nullptr, &plan) == MLA_ERROR_USAGE);
  BOOST_TEST(plan.splits == 1);
  BOOST_TEST(plan.workspace_bytes == 0);
  shape.struct_size = 8;
  BOOST_TEST(mla_policy_plan(policy.get(), &shape, &plan) == MLA_ERROR_USAGE);
  BOOST_TEST(plan.splits == 1);
  plan.struct_size = sizeof plan - 1;
  plan.splits = 77;
  shape.struct_size = sizeof shape;
  BOOST_TEST(mla_policy_plan(policy.get(), &shape, &plan) == MLA_ERROR_USAGE);
  BOOST_TEST(plan.splits == 77);  // too small to be written

  int64_t bytes = 0;
  BOOST_TEST(mla_policy_workspace_bound(nullptr, &shape, &bytes) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_workspace_bound(policy.get(), nullptr, &bytes) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_workspace_bound(policy.get(), &shape, nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_reload(nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_counts(policy.get(), nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_table_size(nullptr, &bytes, &bytes) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_status_text(nullptr, nullptr, 0) == sizeof "no policy");
  mla_policy_close(nullptr);
}

BOOST_AUTO_TEST_CASE(absurd_fields_are_usage_errors_with_one_split_and_no_workspace) {
  const OpenPolicy policy({good});
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  int32_t mla_shape::*const fields[] = {&mla_shape::batch,
                                        &mla_shape::nhead,
                                        &mla_shape::q_len,
                                        &mla_shape::kv_dtype,
                                        &mla_shape::page_size,
                                        &mla_shape::imbalance,
                                        &mla_shape::large_pool};
  for (int32_t mla_shape::*const field : fields) {
    for (const int32_t value : {kMin, -1, kMax}) {
      mla_shape shape = abi_shape(16, 68000);
      shape.*field = value;
      mla_plan plan = empty_plan();
      BOOST_TEST(mla_policy_plan(policy.get(), &shape, &plan) == MLA_ERROR_USAGE);
      BOOST_TEST(plan.splits == 1);
      BOOST_TEST(plan.workspace_bytes == 0);
      BOOST_TEST(plan.reason == "shape out of range");
    }
  }
  for (const int64_t value :
       {std::numeric_limits<int64_t>::min(), int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    mla_shape shape = abi_shape(16, value);
    mla_plan plan = empty_plan();
    BOOST_TEST(mla_policy_plan(policy.get(), &shape, &plan) == MLA_ERROR_USAGE);
    shape = abi_shape(16, 68000);
    shape.shared_prefix = value;
    BOOST_TEST(mla_policy_plan(policy.get(), &shape, &plan) == MLA_ERROR_USAGE);
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_used_is_a_device_error_without_a_handle) {
  mla_policy* policy = nullptr;
  BOOST_TEST(mla_policy_open(nullptr, 0, nullptr, &policy) == MLA_ERROR_DEVICE);
  const mla_device_desc good_device = mi355x_desc();
  BOOST_TEST(mla_policy_open(nullptr, 0, &good_device, nullptr) == MLA_ERROR_USAGE);
  mla_device_desc devices[5] = {good_device, good_device, good_device, good_device, good_device};
  devices[0].struct_size = 4;
  devices[1].compute_units = 0;
  devices[2].arch = nullptr;
  devices[3].group_rows = -1;
  devices[4].xcds = -8;
  for (const mla_device_desc& device : devices) {
    BOOST_TEST(mla_policy_open(nullptr, 0, &device, &policy) == MLA_ERROR_DEVICE);
    BOOST_TEST(policy == nullptr);
  }
}

BOOST_AUTO_TEST_CASE(answers_are_counted_by_source) {
  const OpenPolicy policy({good});
  for (int i = 0; i < 3; ++i) policy.plan(abi_shape(16, 68000));
  for (int i = 0; i < 2; ++i) policy.plan(abi_shape(16, 66000));
  policy.plan(abi_shape(17, 68000));
  policy.plan(abi_shape(-1, 68000));
  mla_counts counts{};
  counts.struct_size = sizeof counts;
  BOOST_TEST(mla_policy_counts(policy.get(), &counts) == MLA_OK);
  BOOST_TEST(counts.by_source[MLA_SOURCE_EXACT] == 3u);
  BOOST_TEST(counts.by_source[MLA_SOURCE_BUCKETED] == 2u);
  BOOST_TEST(counts.by_source[MLA_SOURCE_DEFAULT] == 1u);
  BOOST_TEST(counts.rejected == 1u);
}

BOOST_AUTO_TEST_CASE(a_reload_brings_new_rows_and_a_broken_file_keeps_the_old_table) {
  const OpenPolicy policy({good});
  BOOST_TEST(policy.plan(abi_shape(24, 68000)).source_name == "default");
  TunedDatabase(good).add_winner(shape(24, 68000), "wait=partial");
  BOOST_TEST(mla_policy_reload(policy.get()) == MLA_OK);
  BOOST_TEST(policy.plan(abi_shape(24, 68000)).source_name == "exact");

  std::filesystem::resize_file(good, 100);
  BOOST_TEST(mla_policy_reload(policy.get()) == MLA_ERROR_DATABASE);
  BOOST_TEST(policy.plan(abi_shape(24, 68000)).source_name == "exact");
  BOOST_TEST(policy.warnings() == 1);
}

BOOST_AUTO_TEST_CASE(the_workspace_bound_covers_every_plan_of_smaller_shapes) {
  const OpenPolicy policy({good});
  mla_shape largest = abi_shape(64, 68000, 32);
  int64_t bound = 0;
  BOOST_TEST(mla_policy_workspace_bound(policy.get(), &largest, &bound) == MLA_OK);
  for (int32_t batch = 1; batch <= 64; ++batch) {
    for (int32_t nhead = 1; nhead <= 32; ++nhead) {
      BOOST_TEST(policy.plan(abi_shape(batch, 68000, nhead)).workspace_bytes <= bound);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_short_buffer_gets_a_cut_text_with_its_end) {
  const OpenPolicy policy({good});
  char buffer[8];
  BOOST_TEST(mla_policy_status_text(policy.get(), buffer, sizeof buffer) ==
             policy.text().size() + 1);
  BOOST_TEST(std::string(buffer) == "1 tuned");
}

BOOST_AUTO_TEST_CASE(the_library_exports_its_c_abi_and_nothing_else) {
  FILE* const nm = popen("nm -D --defined-only " MLA_POLICY_LIBRARY, "r");
  BOOST_REQUIRE(nm != nullptr);
  int functions = 0;
  char address[64], type[8], name[512];
  while (std::fscanf(nm, "%63s %7s %511s", address, type, name) == 3) {
    if (type[0] == 'A') continue;  // the version node
    BOOST_TEST(std::string(name).rfind("mla_policy_", 0) == 0u, name);
    ++functions;
  }
  BOOST_TEST(pclose(nm) == 0);
  BOOST_TEST(functions == 14);
}

BOOST_AUTO_TEST_SUITE_END()

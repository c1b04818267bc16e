// SPDX-License-Identifier: MIT
// Off, pinned, deterministic; and the fingerprint that tells such policies apart.
#define BOOST_TEST_MODULE policy_modes
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <set>
#include <tuple>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/lookup.h"
#include "policy/override.h"
#include "tests/policy/abi_support.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/environment.h"
#include "tests/support/temporary_directory.h"

using namespace mla::testing;

namespace {

struct Fixture {
  Fixture() {
    for (const char* name : {"MLA_TUNE_DB", "MLA_TUNE_MODE", "MLA_TUNE_PIN"}) unsetenv(name);
    TunedDatabase(good).add_winner(tuned, "wait=partial");
  }

  int64_t workspace_bound(const OpenPolicy& policy) const {
    const mla_shape largest = abi_shape(64, 68000, 32);
    int64_t bytes = 0;
    mla_policy_workspace_bound(policy.get(), &largest, &bytes);
    return bytes;
  }

  TemporaryDirectory directory;
  const mla::Problem tuned = shape(16, 68000);
  const std::string good = directory.file("good.db");
  const mla_shape tuned_shape = abi_shape(16, 68000);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(modes, Fixture)

BOOST_AUTO_TEST_CASE(lookups_can_be_switched_off_and_on_between_two_plans) {
  const OpenPolicy policy({good});
  BOOST_TEST(policy.plan(tuned_shape).wait == 1);
  BOOST_TEST(mla_policy_set_mode(policy.get(), MLA_MODE_OFF) == MLA_OK);
  const mla_plan off = policy.plan(tuned_shape);
  BOOST_TEST(off.wait == 0);
  BOOST_TEST(off.source == MLA_SOURCE_DISABLED);
  BOOST_TEST(policy.text() == "lookups are switched off");
  BOOST_TEST(mla_policy_set_mode(policy.get(), MLA_MODE_LOOKUP) == MLA_OK);
  BOOST_TEST(policy.plan(tuned_shape).wait == 1);
  BOOST_TEST(mla_policy_set_mode(policy.get(), 7) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_policy_set_mode(nullptr, MLA_MODE_OFF) == MLA_ERROR_USAGE);
}

BOOST_AUTO_TEST_CASE(a_policy_opened_switched_off_touches_no_file_until_lookups_are_on) {
  const Environment mode("MLA_TUNE_MODE", "off");
  const std::string missing = directory.file("later.db");
  const OpenPolicy policy({missing});
  BOOST_TEST(policy.status() == MLA_OK);
  BOOST_TEST(policy.warnings() == 0);
  TunedDatabase(missing).add_winner(tuned, "wait=partial");
  BOOST_TEST(mla_policy_set_mode(policy.get(), MLA_MODE_LOOKUP) == MLA_OK);
  BOOST_TEST(policy.plan(tuned_shape).source_name == "exact");
}

BOOST_AUTO_TEST_CASE(a_pin_holds_its_knobs_and_the_default_fills_the_gaps) {
  const OpenPolicy policy({good});
  BOOST_TEST(mla_policy_pin(policy.get(), "splits=8 tile_n=32") == MLA_OK);
  for (const int32_t batch : {1, 16, 40}) {
    const mla_plan plan = policy.plan(abi_shape(batch, 68000));
    BOOST_TEST(plan.splits == 8);
    BOOST_TEST(plan.tile_n == 32);
    BOOST_TEST(plan.wait == 0);  // the default's, also where a winner is stored
    BOOST_TEST(plan.stage1_warps == 4);
    BOOST_TEST(plan.reason == "pinned");
    BOOST_TEST(plan.workspace_bytes <= workspace_bound(policy));
  }
  BOOST_TEST(policy.text() == "pinned: splits=8 tile_n=32");
  BOOST_TEST(mla_policy_pin(policy.get(), nullptr) == MLA_OK);
  BOOST_TEST(policy.plan(tuned_shape).source_name == "exact");
}

BOOST_AUTO_TEST_CASE(a_pin_that_cannot_be_meant_changes_nothing_and_says_why) {
  const OpenPolicy policy({good});
  for (const char* knobs : {"splits=0", "splits=99999", "tile_n=48", "colour=red", "splits"}) {
    BOOST_TEST(mla_policy_pin(policy.get(), knobs) == MLA_ERROR_USAGE, knobs);
    BOOST_TEST(policy.warnings() == 1);
    BOOST_TEST(policy.text().find("nothing changed") != std::string::npos, policy.text());
    BOOST_TEST(policy.plan(tuned_shape).source_name == "exact");
  }
  BOOST_TEST(mla_policy_pin(policy.get(), "splits=8") == MLA_OK);
  BOOST_TEST(policy.warnings() == 0);
  BOOST_TEST(mla_policy_pin(nullptr, "splits=8") == MLA_ERROR_USAGE);
}

BOOST_AUTO_TEST_CASE(where_a_pin_is_not_legal_for_a_shape_the_default_answers) {
  const OpenPolicy policy({good});
  BOOST_TEST(mla_policy_pin(policy.get(), "splits=8 order=split_major") == MLA_OK);
  BOOST_TEST(policy.plan(abi_shape(2, 68000)).order == 1);
  const mla_plan alone = policy.plan(abi_shape(1, 68000));  // split-major needs batch > 1
  BOOST_TEST(alone.order == 0);
  BOOST_TEST(alone.splits == 256);
  BOOST_TEST(alone.reason == "the pinned configuration is not legal for this shape");
  BOOST_TEST(policy.plan(abi_shape(2, 0)).order == 1);  // also where the length is unknown
}

BOOST_AUTO_TEST_CASE(the_environment_pins_and_off_comes_before_a_pin) {
  const Environment pin("MLA_TUNE_PIN", "splits=4");
  const OpenPolicy policy({good});
  BOOST_TEST(policy.plan(tuned_shape).splits == 4);
  BOOST_TEST(mla_policy_set_mode(policy.get(), MLA_MODE_OFF) == MLA_OK);
  BOOST_TEST(policy.plan(tuned_shape).splits == 16);
  BOOST_TEST(mla_policy_set_mode(policy.get(), MLA_MODE_DETERMINISTIC) == MLA_OK);
  BOOST_TEST(policy.plan(tuned_shape).splits == 4);
}

BOOST_AUTO_TEST_CASE(a_pin_of_the_environment_that_cannot_be_read_is_a_warning) {
  const Environment pin("MLA_TUNE_PIN", "splits=many");
  const OpenPolicy policy({good});
  BOOST_TEST(policy.status() == MLA_OK);
  BOOST_TEST(policy.warnings() == 1);
  BOOST_TEST(policy.text().find("warning: MLA_TUNE_PIN: ") != std::string::npos, policy.text());
  BOOST_TEST(policy.plan(tuned_shape).source_name == "exact");
}

BOOST_AUTO_TEST_CASE(deterministic_plans_associate_a_rows_sums_alike_for_every_batch_and_length) {
  const Environment mode("MLA_TUNE_MODE", "deterministic");
  const OpenPolicy policy({good});
  BOOST_TEST(policy.status() == MLA_OK);
  for (const int32_t batch : {1, 2, 16, 40, 700}) {
    for (const int64_t seq_len : {0, 1, 500, 68000}) {
      const mla_plan plan = policy.plan(abi_shape(batch, seq_len));
      BOOST_TEST(plan.splits == 32);  // 256 compute units over 8 row groups
      BOOST_TEST(plan.tile_n == 64);
      BOOST_TEST(plan.stage1_warps == 4);
      BOOST_TEST(plan.schedule == 0);
      BOOST_TEST(plan.source == MLA_SOURCE_DISABLED);
    }
  }
  const mla_plan largest = policy.plan(abi_shape(64, 68000, 32));
  BOOST_TEST(largest.workspace_bytes <= workspace_bound(policy));
  BOOST_TEST(largest.workspace_bytes > 0);
}

// The default of an H200 takes another kernel where a step has more work; sums of a request would
// then be associated by what else is in the batch.
BOOST_AUTO_TEST_CASE(deterministic_plans_of_an_h200_keep_their_kernel_whatever_the_work) {
  using namespace mla;
  DeviceInfo device;
  BOOST_REQUIRE(known_device("H200", &device));
  const Space space = make_space(device);
  const policy::LookupTable table({}, space);
  const policy::Override fixed = policy::Override::deterministic(space);
  for (const char* family :
       {"nhead=12", "nhead=64", "nhead=128 q_len=2", "nhead=16 kv_dtype=fp8"}) {
    std::set<std::tuple<int, int, int, int>> kernels;
    for (const int batch : {1, 2, 16, 40, 67, 700}) {
      for (const int seq_len : {0, 1, 500, 4096, 68000}) {
        Problem problem = parse_problem(std::string("batch=1 seq_len=1 ") + family);
        problem.batch = batch;
        problem.seq_len = seq_len;
        const KernelConfig config = fixed.answer(problem, table).config;
        kernels.insert({config.splits, config.tile_n, config.stage1_warps, config.group_rows});
      }
    }
    BOOST_TEST(kernels.size() == 1u, family);
  }
}

BOOST_AUTO_TEST_CASE(equal_advice_has_an_equal_fingerprint_whatever_file_it_came_from) {
  const std::string again = directory.file("again.db"), other = directory.file("other.db");
  TunedDatabase same(again);
  same.add_verdict(shape(3, 1000), mla::db::Verdict::kUndecided);
  same.add_winner(tuned, "wait=partial");
  TunedDatabase(good).add_verdict(shape(3, 1000), mla::db::Verdict::kUndecided);
  TunedDatabase(other).add_winner(tuned, "tile_n=32");
  const std::string little = directory.file("little.db");  // a winner that is not carried
  TunedDatabase(little).add_winner(tuned, "wait=partial", 0.014);
  TunedDatabase(little).add_verdict(shape(3, 1000), mla::db::Verdict::kUndecided);
  const OpenPolicy policy({good});
  const uint64_t fingerprint = mla_policy_fingerprint(policy.get());
  BOOST_TEST(fingerprint == mla_policy_fingerprint(OpenPolicy({again}).get()));
  BOOST_TEST(fingerprint != mla_policy_fingerprint(OpenPolicy({other}).get()));
  BOOST_TEST(fingerprint != mla_policy_fingerprint(OpenPolicy({little}).get()));
  BOOST_TEST(fingerprint != mla_policy_fingerprint(OpenPolicy(std::vector<std::string>{}).get()));
  mla_policy_pin(policy.get(), "splits=8");
  const uint64_t pinned = mla_policy_fingerprint(policy.get());
  BOOST_TEST(pinned != fingerprint);
  mla_policy_set_mode(policy.get(), MLA_MODE_OFF);
  BOOST_TEST(mla_policy_fingerprint(policy.get()) != pinned);
  BOOST_TEST(mla_policy_fingerprint(policy.get()) != fingerprint);
  mla_policy_pin(policy.get(), "");
  mla_policy_set_mode(policy.get(), MLA_MODE_LOOKUP);
  BOOST_TEST(mla_policy_fingerprint(policy.get()) == fingerprint);
  BOOST_TEST(mla_policy_fingerprint(nullptr) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

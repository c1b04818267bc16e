// SPDX-License-Identifier: MIT
// A persistent schedule on its way from a database to the C ABI.
#define BOOST_TEST_MODULE schedule
#include <boost/test/unit_test.hpp>

#include "policy/wave_edge.h"
#include "tests/policy/abi_support.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::policy;
using namespace mla::testing;

namespace {

DeviceInfo h200() {
  DeviceInfo device;
  BOOST_REQUIRE(known_device("H200", &device));
  return device;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_tuned_persistent_schedule_reaches_the_plan) {
  const TemporaryDirectory directory;
  const DeviceInfo info = h200();
  const std::string path = directory.file("h200.db");
  TunedDatabase(path, info)
      .add_winner(shape(46, 16384),
                  "splits=8 tile_n=16 stages=5 stage1_warps=4 stage2_warps=8 schedule=persistent");
  mla_device_desc device{};
  device.struct_size = sizeof device;
  device.compute_units = info.compute_units;
  device.local_memory_bytes = info.local_memory_bytes;
  device.arch = info.arch.c_str();
  const char* const paths = path.c_str();
  mla_policy* policy = nullptr;
  BOOST_TEST_REQUIRE(mla_policy_open(&paths, 1, &device, &policy) == MLA_OK);
  const mla_shape tuned = abi_shape(46, 16384);
  mla_plan plan = empty_plan();
  BOOST_TEST(mla_policy_plan(policy, &tuned, &plan) == MLA_OK);
  BOOST_TEST(plan.source == MLA_SOURCE_EXACT);
  BOOST_TEST(plan.schedule == 1);
  BOOST_TEST(plan.splits == 8);
  BOOST_TEST(plan.stage2_warps == 8);
  mla_policy_close(policy);
}

BOOST_AUTO_TEST_CASE(a_persistent_schedule_has_no_wave_edge) {
  KernelConfig config = parse_config("splits=3 tile_n=16 stages=5 stage1_warps=4");
  BOOST_TEST(past_wave_edge(h200(), shape(46, 16384), config));  // 138 workgroups on 132 SMs
  config.schedule = Schedule::kPersistent;
  BOOST_TEST(!past_wave_edge(h200(), shape(46, 16384), config));
}

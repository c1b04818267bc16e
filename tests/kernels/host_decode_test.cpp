// SPDX-License-Identifier: MIT
// The host kernels against the float64 reference: a seeded pairwise sample.
// host_decode_long_test.cpp walks the whole product.
#define BOOST_TEST_MODULE host_decode
#include <boost/test/unit_test.hpp>

#include "policy/default_policy.h"
#include "tests/kernels/host_cases.h"

using namespace mla;
using namespace mla::test;

namespace {

constexpr int64_t kSampledRows = 12;
constexpr uint32_t kSeed = 20;

KernelConfig config_of(const Choice& choice) {
  KernelConfig config;
  config.splits = std::vector<int32_t>{1, 2, 3, 5, 8, 17, 40, 64, 70}[choice[0]];
  config.tile_n = std::vector<int32_t>{16, 32, 64, 128}[choice[1]];
  config.stages = static_cast<int32_t>(2 + choice[2]);
  config.wait = static_cast<Wait>(choice[3]);
  config.order = static_cast<Order>(choice[4]);
  config.stage2_tiles = 1 << choice[5];
  config.group_rows = 16 << choice[6];
  return config;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_default_is_within_tolerance_on_every_pair_of_shape_parameters) {
  for (const Choice& choice : pairwise_choices(problem_sizes(), kSeed)) {
    const auto workload = problem_of(choice);
    const auto rows = reference_sample(workload->params(), kSampledRows, kSeed);
    for (const std::string& isa : instruction_sets()) {
      const auto device = open_host(isa);
      const auto loaded = device->load(workload);
      const KernelConfig config = policy::DefaultPolicy(device->space())(workload->problem());
      BOOST_TEST_CONTEXT(isa << " " << to_text(workload->problem()) << " " << to_text(config)) {
        const Outcome ran = loaded->run(config);
        BOOST_TEST(ran.ok(), ran.text);
        const Outcome checked = check(rows, *workload, read(*loaded));
        BOOST_TEST(checked.ok(), checked.text);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_pair_of_knob_values_is_within_tolerance) {
  const auto choices = pairwise_choices({9, 4, 3, 2, 2, 4, 3}, kSeed);
  for (const auto& workload : configured_problems()) {
    const auto rows = reference_sample(workload->params(), kSampledRows, kSeed);
    for (const std::string& isa : instruction_sets()) {
      const auto device = open_host(isa);
      const auto loaded = device->load(workload);
      for (const Choice& choice : choices) {
        const KernelConfig config = config_of(choice);
        BOOST_TEST_CONTEXT(isa << " " << to_text(workload->problem()) << " " << to_text(config)) {
          const Outcome ran = loaded->run(config);
          BOOST_TEST(ran.ok(), ran.text);
          const Outcome checked = check(rows, *workload, read(*loaded));
          BOOST_TEST(checked.ok(), checked.text);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(wait_stages_order_and_stage_2_tiling_change_no_bit_and_runs_repeat) {
  const auto workload = configured_problems()[1];
  for (const std::string& isa : instruction_sets()) {
    const auto device = open_host(isa);
    const auto loaded = device->load(workload);
    for (const int32_t splits : {1, 6}) {
      KernelConfig base;
      base.splits = splits;
      base.tile_n = 32;
      BOOST_REQUIRE(loaded->run(base).ok());
      const Output expected = read(*loaded);
      for (const Choice& choice : all_choices({3, 2, 2, 4})) {
        KernelConfig config = base;
        config.stages = static_cast<int32_t>(2 + choice[0]);
        config.wait = static_cast<Wait>(choice[1]);
        config.order = static_cast<Order>(choice[2]);
        config.stage2_tiles = 1 << choice[3];
        BOOST_REQUIRE(loaded->run(config).ok());
        BOOST_TEST((read(*loaded) == expected), isa << " " << to_text(config));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_width_of_row_groups_changes_no_bit) {
  const auto workload = configured_problems()[2];
  for (const std::string& isa : instruction_sets()) {
    const auto device = open_host(isa);
    const auto loaded = device->load(workload);
    for (const char* knobs : {"splits=1 tile_n=32", "splits=3 tile_n=16"}) {
      KernelConfig config = parse_config(knobs);
      BOOST_REQUIRE(loaded->run(config).ok());
      const Output expected = read(*loaded);
      for (const int32_t group_rows : {32, 64}) {
        config.group_rows = group_rows;
        BOOST_REQUIRE(loaded->run(config).ok());
        BOOST_TEST((read(*loaded) == expected), isa << " " << to_text(config));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(query_positions_that_share_a_row_group_each_end_where_they_see_no_further) {
  for (const int32_t nhead : {1, 5, 12, 24}) {
    for (int32_t q_len = 1; q_len <= kMaxQLen; ++q_len) {
      Problem problem;
      problem.nhead = nhead;
      problem.q_len = q_len;
      // At the edges of what the positions see, and so that they see up to both sides of a block.
      const auto workload =
          make_workload(problem, {0, 1, q_len - 1, q_len, q_len + 1, 16, 17, 63, 64, 66, 129});
      const auto rows = reference_sample(workload->params(), 2000, kSeed);
      for (const std::string& isa : instruction_sets()) {
        const auto device = open_host(isa);
        const auto loaded = device->load(workload);
        for (const char* knobs : {"splits=1 tile_n=16",
                                  "splits=3 tile_n=64",
                                  "splits=1 tile_n=64 group_rows=32",
                                  "splits=3 tile_n=16 group_rows=64"}) {
          const KernelConfig config = parse_config(knobs, device->space().neutral());
          BOOST_REQUIRE(loaded->run(config).ok());
          const Outcome checked = check(rows, *workload, read(*loaded));
          BOOST_TEST(
              checked.ok(),
              isa << " " << to_text(workload->problem()) << " " << knobs << ": " << checked.text);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(strided_queries_are_read_at_their_strides) {
  Problem problem;
  problem.q_len = 2;
  WorkloadOptions options;
  options.q_padding = 24;
  const auto workload = make_workload(problem, {100, 70}, options);
  const auto rows = reference_sample(workload->params(), kSampledRows, kSeed);
  for (const std::string& isa : instruction_sets()) {
    const auto device = open_host(isa);
    const auto loaded = device->load(workload);
    BOOST_REQUIRE(loaded->run(device->space().neutral()).ok());
    const Outcome checked = check(rows, *workload, read(*loaded));
    BOOST_TEST(checked.ok(), isa << ": " << checked.text);
  }
}

BOOST_AUTO_TEST_CASE(rows_past_4_gib_of_pool_are_reached) {
  Problem problem;
  problem.pool = PoolClass::kLarge;
  const auto workload = make_workload(problem, {200, 90});
  BOOST_REQUIRE(workload->pool_pages() * row_bytes(problem.kv_dtype) > int64_t{1} << 32);
  const auto rows = reference_sample(workload->params(), kSampledRows, kSeed);
  for (const std::string& isa : instruction_sets()) {
    const auto device = open_host(isa);
    const auto loaded = device->load(workload);
    BOOST_REQUIRE(loaded->run(device->space().neutral()).ok());
    const Outcome checked = check(rows, *workload, read(*loaded));
    BOOST_TEST(checked.ok(), isa << ": " << checked.text);
  }
}

BOOST_AUTO_TEST_CASE(without_an_lse_pointer_the_output_is_the_same) {
  const auto workload = configured_problems()[1];
  for (const std::string& isa : instruction_sets()) {
    for (const int32_t splits : {1, 4}) {
      KernelConfig config;
      config.splits = splits;
      const DirectLaunch launch{kernels_of(isa)};
      const PipelineSchedule schedule = make_schedule(config);
      const Output with = launch(workload->params(), config, schedule);
      const Output without = launch(workload->params(), config, schedule, false);
      BOOST_TEST((with.out == without.out), isa);
    }
  }
}

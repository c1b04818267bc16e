// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE default_policy
#include "policy/default_policy.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/default_splits.h"

using namespace mla;
using mla::policy::DefaultPolicy;

namespace {

Space space_of(const std::string& name) {
  DeviceInfo device;
  BOOST_REQUIRE(known_device(name, &device));
  return make_space(device);
}

Space host_space(int32_t threads) {
  DeviceInfo device;
  device.arch = "x86-64";
  device.compute_units = threads;
  return make_space(device);
}

Space gpu_space(const std::string& arch, int32_t compute_units, int32_t xcds) {
  DeviceInfo device;
  device.arch = arch;
  device.compute_units = compute_units;
  device.xcds = xcds;
  device.local_memory_bytes = 160 * 1024;
  return make_space(device);
}

Problem shape(int32_t batch, int32_t nhead = 12, int32_t q_len = 1) {
  Problem problem;
  problem.batch = batch;
  problem.nhead = nhead;
  problem.q_len = q_len;
  problem.seq_len = 68000;
  return problem;
}

Problem of_length(int64_t seq_len, Problem problem) {
  problem.seq_len = seq_len;
  return problem;
}

std::string default_text(const Space& space, const Problem& problem) {
  return to_text(DefaultPolicy(space)(problem));
}

Problem random_problem(std::mt19937& random) {
  const auto pick = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(random);
  };
  Problem problem = shape(static_cast<int32_t>(pick(1, 1) << pick(0, 15)),
                          static_cast<int32_t>(pick(1, kMaxHeads)),
                          static_cast<int32_t>(pick(1, kMaxQLen)));
  problem.batch =
      static_cast<int32_t>(std::min<int64_t>(kMaxBatch, problem.batch + pick(0, problem.batch)));
  problem.seq_len = pick(1, kMaxSeqLen);
  problem.page_size = 1 << (2 * pick(0, 1) + 2 * pick(0, 1));
  if (problem.page_size == 4) problem.page_size = 64;
  return problem;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_mi355x_gets_one_wave_and_a_stage_2_that_fills_it) {
  const Space space = space_of("MI355X");
  BOOST_TEST(default_text(space, shape(1)) ==
             "splits=256 tile_n=64 stages=2 wait=drain order=batch_major stage1_warps=4 "
             "stage2_tiles=8 stage2_warps=1");
  BOOST_TEST(default_text(space, shape(8)) ==
             "splits=32 tile_n=64 stages=2 wait=drain order=batch_major stage1_warps=4 "
             "stage2_tiles=4 stage2_warps=2");
  BOOST_TEST(default_text(space, shape(24)) ==
             "splits=10 tile_n=64 stages=2 wait=drain order=batch_major stage1_warps=4 "
             "stage2_tiles=1 stage2_warps=8");
}

// One warp, as on amdgcn, once made a step at batch 1 take 52 us in place of 35.
BOOST_AUTO_TEST_CASE(an_h200_gets_as_many_stage_2_warps_as_run_at_once_and_at_most_one_a_split) {
  const DefaultPolicy policy(space_of("H200"));
  BOOST_TEST(policy(shape(1)).stage2_warps == 16);
  BOOST_TEST(policy(shape(8)).stage2_warps == 16);
  BOOST_TEST(policy(shape(24)).stage2_warps == 8);      // 5 splits
  BOOST_TEST(policy(shape(32, 64)).stage2_warps == 2);  // 2,048 rows
  BOOST_TEST(policy(shape(128)).stage2_warps == 8);     // unsplit: the neutral count
  BOOST_TEST(policy::drained_baseline(space_of("H200"), shape(8)).stage2_warps == 8);
}

// With 105 or fewer of 132 SMs at work, stage 2 waits for its release on the others.
BOOST_AUTO_TEST_CASE(one_request_on_an_h200_leaves_room_for_stage_2) {
  const Space space = space_of("H200");
  const KernelConfig one = DefaultPolicy(space)(shape(1));
  BOOST_TEST(one.splits > 80);
  BOOST_TEST(one.splits <= 105);
  BOOST_CHECK(one.wait == Wait::kPartial);
}

// 72 requests of one split left 60 of 132 SMs idle: 503 us where 60 requests took 282.
BOOST_AUTO_TEST_CASE(an_h200_has_no_step_where_a_batch_does_not_fit_twice) {
  const DefaultPolicy policy(space_of("H200"));
  for (const int32_t batch : {67, 72, 80}) {
    const int64_t workgroups = int64_t{batch} * policy(shape(batch)).splits;
    const int64_t waves = (workgroups + 131) / 132;
    BOOST_TEST(10 * workgroups > 8 * waves * 132, batch << " requests");
    BOOST_TEST(waves <= policy::kMostWaves);
  }
  BOOST_TEST(policy(shape(132)).splits == 1);
  BOOST_TEST(policy(of_length(128, shape(72))).splits == 1);  // partial results would cost more
}

BOOST_AUTO_TEST_CASE(a_split_of_a_short_request_has_a_block_for_each_team) {
  const DefaultPolicy policy(space_of("H200"));
  BOOST_TEST(policy(of_length(1024, shape(1))).splits == 16);
  BOOST_TEST(policy(of_length(20, shape(1))).splits == 1);
  BOOST_TEST(policy(of_length(0, shape(1))).splits ==
             policy(of_length(16384, shape(1))).splits);  // unknown
}

BOOST_AUTO_TEST_CASE(wide_row_groups_are_for_steps_with_work_or_without_room) {
  const DefaultPolicy policy(space_of("H200"));
  BOOST_TEST(policy(of_length(2048, shape(1, 64))).group_rows == 16);
  BOOST_TEST(policy(of_length(32768, shape(1, 64))).group_rows == 64);
  BOOST_TEST(policy(of_length(8192, shape(64, 64))).group_rows == 64);
  BOOST_TEST(policy(of_length(8192, shape(64, 128))).group_rows == 128);
}

// A request keeps its kernel while it grows by a few tokens.
BOOST_AUTO_TEST_CASE(lengths_that_differ_by_less_than_a_32nd_of_an_octave_are_alike) {
  const DefaultPolicy policy(space_of("H200"));
  for (const int32_t batch : {1, 7, 24, 67}) {
    const KernelConfig first = policy(of_length(65537, shape(batch)));
    for (const int64_t seq_len : {65538, 66000, 67584})
      BOOST_TEST((policy(of_length(seq_len, shape(batch))) == first));
  }
}

BOOST_AUTO_TEST_CASE(without_costs_neither_batch_nor_length_choose_the_kernel) {
  const DefaultPolicy policy(space_of("H200"));
  for (const int32_t batch : {1, 3, 64})
    for (const int64_t seq_len : {0, 100, 68000})
      BOOST_TEST(policy.without_costs(of_length(seq_len, shape(batch, 128))).group_rows == 128);
  const std::vector<KernelConfig> widths = policy.of_each_width(of_length(0, shape(2, 50)));
  BOOST_TEST_REQUIRE(widths.size() == 3u);
  for (const int i : {0, 1, 2}) BOOST_TEST(widths[i].group_rows == 16 << i);
  BOOST_TEST(DefaultPolicy(space_of("MI355X")).of_each_width(shape(2, 50)).size() == 1u);
}

BOOST_AUTO_TEST_CASE(no_length_takes_more_splits_than_the_workspace_is_asked_for) {
  std::mt19937 random(2);
  for (const Space& space : {space_of("MI355X"), space_of("H200"), host_space(64)}) {
    const DefaultPolicy policy(space);
    for (int i = 0; i < 500; ++i) {
      const Problem problem = random_problem(random);
      BOOST_TEST(policy(problem).splits <= policy.most_splits(problem), to_text(problem));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_host_with_two_threads_has_no_warps_and_two_splits_at_most) {
  const Space space = host_space(2);
  BOOST_TEST(default_text(space, shape(1)) ==
             "splits=2 tile_n=64 stages=2 wait=partial order=batch_major stage2_tiles=1");
  BOOST_TEST(DefaultPolicy(space)(shape(2)).splits == 1);
}

BOOST_AUTO_TEST_CASE(row_groups_count_like_requests) {
  const DefaultPolicy policy(space_of("MI355X"));
  BOOST_TEST(policy(shape(1, 16)).splits == 256);
  BOOST_TEST(policy(shape(1, 17)).splits == 128);
  BOOST_TEST(policy(shape(2, 128, 4)).splits == 4);
  BOOST_TEST(policy(shape(1, 12, 4)).splits == 85);  // 48 query rows are 3 groups of 16
}

BOOST_AUTO_TEST_CASE(
    the_row_groups_are_the_narrowest_that_hold_a_request_and_bring_their_own_values) {
  const DefaultPolicy policy(space_of("H200"));
  BOOST_TEST(policy(shape(4, 16)).group_rows == 16);
  BOOST_TEST(policy(shape(16, 12, 2)).group_rows == 32);
  BOOST_TEST(policy(shape(4, 33)).group_rows == 64);
  BOOST_TEST(policy(shape(4, 33)).tile_n == 64);
  BOOST_TEST(policy(shape(64, 65)).group_rows == 128);
  Problem fp8 = shape(4, 128);
  fp8.kv_dtype = KvDtype::kFp8;
  BOOST_TEST(policy(fp8).group_rows == 16);
}

// The ring of the bf16 default took 32 to 38 % longer.
BOOST_AUTO_TEST_CASE(an_h200_gets_larger_tiles_of_fp8_rows) {
  const DefaultPolicy policy(space_of("H200"));
  Problem problem = shape(64, 16);
  BOOST_TEST(policy(problem).stages == 2);
  problem.kv_dtype = KvDtype::kFp8;
  BOOST_TEST(policy(problem).tile_n == 32);
  BOOST_TEST(policy(problem).splits == 2);
  BOOST_TEST(policy(problem).stages == 3);
  BOOST_TEST(policy(problem).stage1_warps == 12);
  problem.seq_len = 512;  // three teams have more to merge
  BOOST_TEST(policy(problem).stages == 4);
  BOOST_TEST(policy(problem).stage1_warps == 8);
}

BOOST_AUTO_TEST_CASE(every_answer_is_legal_and_fills_at_most_one_wave) {
  std::mt19937 random(1);
  for (const int32_t units : {1, 2, 38, 64, 80, 132, 228, 256, 304}) {
    for (const Space& space :
         {gpu_space("gfx950", units, 8), gpu_space("sm_90", units, 1), host_space(units)}) {
      const DefaultPolicy policy(space);
      for (int i = 0; i < 500; ++i) {
        Problem problem = random_problem(random);
        if (i % 2 == 1 && space.device().arch != "gfx950") problem.kv_dtype = KvDtype::kFp8;
        const KernelConfig config = policy(problem);
        const auto violation = space.violation(problem, config);
        BOOST_TEST(!violation, to_text(problem) << ": " << violation.value_or(""));
        const int64_t items = problem.batch * request_workgroups(problem, config);
        if (!space.costs().kernels.empty()) continue;  // chosen by length (default_splits.h)
        BOOST_TEST(config.splits * items <= std::max<int64_t>(units, items), to_text(problem));
        // One split more would not fit.
        BOOST_TEST((config.splits + 1) * items > units, to_text(problem));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(splits_scale_with_the_compute_units) {
  for (int32_t units = 38; units <= 304; ++units) {
    const DefaultPolicy policy(gpu_space("gfx942", units, 1));
    BOOST_TEST(policy(shape(1)).splits == units);
    BOOST_TEST(policy(shape(8)).splits == units / 8);
  }
}

BOOST_AUTO_TEST_CASE(a_value_outside_the_space_is_lowered_to_the_next_legal_one) {
  const Space base = space_of("MI355X");
  std::vector<KnobRange> ranges = base.ranges();
  ranges[0].legal = ranges[0].search = {1, 2, 4, 8, 16, 32, 64, 100};
  ranges[6].legal = ranges[6].search = {1, 2};
  const DefaultPolicy policy(Space(base.device(), ranges, base.constraints()));
  BOOST_TEST(policy(shape(1)).splits == 100);
  BOOST_TEST(policy(shape(4)).splits == 64);
  BOOST_TEST(policy(shape(10)).splits == 16);
  BOOST_TEST(policy(shape(1)).stage2_tiles == 2);
  BOOST_TEST(policy(shape(1)).stage2_warps == 4);
}

BOOST_AUTO_TEST_CASE(the_finest_stage_2_is_that_of_one_request_whatever_the_batch) {
  for (const Space& space : {space_of("MI355X"), space_of("H200"), host_space(64)}) {
    const DefaultPolicy policy(space);
    const KernelConfig one = policy(shape(1, 1)), many = policy(shape(128));
    const KernelConfig finest = policy.finest_stage2(many);
    BOOST_TEST(finest.stage2_tiles == 8);
    BOOST_TEST(finest.stage2_tiles == one.stage2_tiles);
    BOOST_TEST(finest.stage2_warps == one.stage2_warps);
    BOOST_TEST(finest.splits == many.splits);
  }
}

BOOST_AUTO_TEST_CASE(the_drained_baseline_has_every_lever_off) {
  const Space space = space_of("MI355X");
  BOOST_TEST(to_text(policy::drained_baseline(space, shape(8))) ==
             "splits=32 tile_n=64 stages=2 wait=drain order=batch_major stage1_warps=4 "
             "stage2_tiles=1 stage2_warps=8");
  BOOST_CHECK(policy::drained_baseline(space_of("H200"), shape(8)).wait == Wait::kDrain);
}

BOOST_AUTO_TEST_CASE(all_levers_are_the_published_all_three_leg) {
  const Space space = space_of("MI355X");
  BOOST_TEST(to_text(policy::all_levers(space, shape(8))) ==
             "splits=32 tile_n=64 stages=2 wait=partial order=split_major stage1_warps=4 "
             "stage2_tiles=4 stage2_warps=2");
  // One request has nothing to reorder, and 10 splits are no multiple of 8 XCDs.
  BOOST_CHECK(policy::all_levers(space, shape(1)).order == Order::kBatchMajor);
  BOOST_CHECK(policy::all_levers(space, shape(24)).order == Order::kBatchMajor);
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE space
#include "kernels/space.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "kernels/error.h"
#include "kernels/known_devices.h"
#include "kernels/partition.h"
#include "kernels/spaces.h"

using namespace mla;

namespace {

DeviceInfo host() {
  DeviceInfo info;
  info.arch = "x86-64";
  info.compute_units = 2;
  return info;
}

DeviceInfo mi355x() {
  DeviceInfo info;
  BOOST_REQUIRE(known_device("MI355X", &info));
  return info;
}

DeviceInfo h200() {
  DeviceInfo info;
  BOOST_REQUIRE(known_device("H200", &info));
  return info;
}

// A host whose default takes row groups of 16 and of 64, and has other tiles for these.
Space with_wide_groups() {
  const Space base = make_space(host());
  const KernelConfig wide = parse_config("group_rows=64 tile_n=128", base.neutral());
  return Space(base.device(), base.ranges(), base.constraints(), {wide});
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_listed_configuration_is_legal_and_listed_once) {
  for (const DeviceInfo& device : {host(), mi355x(), h200()}) {
    const Space space = make_space(device);
    for (const char* text : {"batch=1 nhead=12 seq_len=68000",
                             "batch=8 nhead=64 seq_len=1000",
                             "batch=4 nhead=1 seq_len=1"}) {
      const Problem problem = parse_problem(text);
      const Space::Listing listing = space.list(problem);
      std::set<KernelConfig> distinct(listing.configs.begin(), listing.configs.end());
      BOOST_TEST(distinct.size() == listing.configs.size());
      BOOST_TEST(!listing.configs.empty());
      for (const KernelConfig& config : listing.configs) {
        BOOST_TEST_REQUIRE(!space.violation(problem, config), to_text(config));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(listed_and_pruned_add_up_to_the_product_of_the_values) {
  const Space space = make_space(mi355x());
  const Space::Listing listing = space.list(parse_problem("batch=1 nhead=12 seq_len=1000"));
  int64_t product = 1;
  for (const KnobRange& range : space.ranges())
    product *= static_cast<int64_t>(range.search.size());
  int64_t sum = static_cast<int64_t>(listing.configs.size());
  for (const auto& [reason, count] : listing.pruned) sum += count;
  BOOST_TEST(sum == product);
  BOOST_TEST(listing.pruned.at("split_major_batch") > 0);
  BOOST_TEST(listing.pruned.at("splits_above_blocks") > 0);
}

BOOST_AUTO_TEST_CASE(the_neutral_wait_is_the_drain_on_amdgcn_and_the_full_ring_elsewhere) {
  BOOST_TEST((make_space(mi355x()).neutral().wait == Wait::kDrain));
  BOOST_TEST((make_space(host()).neutral().wait == Wait::kPartial));
  BOOST_TEST((make_space(h200()).neutral().wait == Wait::kPartial));
}

BOOST_AUTO_TEST_CASE(on_an_h200_both_teams_of_a_workgroup_need_a_ring) {
  const Space space = make_space(h200());
  const auto violation = [&](const char* text) {
    return space.violation(Problem{}, parse_config(text, space.neutral())).value_or("");
  };
  BOOST_TEST(violation("") == "");
  BOOST_TEST(violation("tile_n=16 stages=11 stage1_warps=4") == "");
  BOOST_TEST(violation("tile_n=16 stages=11 stage1_warps=8") ==
             "the copy ring does not fit into 232448 bytes of shared memory");
  BOOST_TEST(violation("tile_n=128") == "tile_n=128 is not legal here; the nearest is 64");
}

BOOST_AUTO_TEST_CASE(a_persistent_schedule_says_what_it_needs) {
  const Space space = make_space(h200());
  const auto violation = [&](const char* text) {
    const KernelConfig base = parse_config(
        "splits=8 tile_n=16 stages=5 stage1_warps=4 schedule=persistent", space.neutral());
    return space
        .violation(parse_problem("batch=46 nhead=12 seq_len=16384"), parse_config(text, base))
        .value_or("");
  };
  BOOST_TEST(violation("") == "");
  BOOST_TEST(violation("tile_n=32 stages=2") == "");
  BOOST_TEST(violation("splits=1") ==
             "the persistent schedule needs splits >= 2: a share may end within a request");
  BOOST_TEST(violation("order=split_major") ==
             "the persistent schedule has one order, batch_major");
  BOOST_TEST(violation("stage1_warps=8") ==
             "the persistent schedule has workgroups of 4 warps for each 16 group rows");
  BOOST_TEST(
      violation("stages=6") ==
      "the persistent schedule runs two workgroups of 4 warps an SM, whose copy rings do not fit "
      "into 233472 bytes of shared memory");
  BOOST_TEST(violation("tile_n=64 stages=2") ==
             "the persistent schedule has tiles of at most 32 rows");
}

// Two rings of 64 fp8 rows fit into an SM, and the space let through what no kernel is compiled
// for.
BOOST_AUTO_TEST_CASE(fp8_rows_fit_twice_as_deep_but_have_no_persistent_tile_of_64) {
  const Space space = make_space(h200());
  const auto violation = [&](const char* dtype, const char* text) {
    const Problem problem = parse_problem(std::string("batch=16 nhead=16 seq_len=8192 ") + dtype);
    return space.violation(problem, parse_config(text, space.neutral())).value_or("");
  };
  BOOST_TEST(violation("kv_dtype=bf16", "tile_n=32 stages=4") ==
             "the copy ring does not fit into 232448 bytes of shared memory");
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=32 stages=4") == "");
  const char* const persistent = "splits=8 tile_n=64 stages=2 stage1_warps=4 schedule=persistent";
  BOOST_TEST(violation("kv_dtype=fp8", persistent) ==
             "the persistent schedule has tiles of at most 32 rows");
  BOOST_TEST(make_space(mi355x())
                 .violation(parse_problem("batch=1 nhead=16 seq_len=10 kv_dtype=fp8"),
                            make_space(mi355x()).neutral())
                 .value_or("") == "the kernels of this device read bf16 rows");
}

BOOST_AUTO_TEST_CASE(three_teams_are_for_fp8_rows_in_groups_of_16_on_an_h200) {
  const Space space = make_space(h200());
  const auto violation = [&](const char* dtype, const char* text) {
    const Problem problem = parse_problem(std::string("batch=16 nhead=24 seq_len=8192 ") + dtype);
    const KernelConfig base = parse_config("splits=4 stage1_warps=12", space.neutral());
    return space.violation(problem, parse_config(text, base)).value_or("");
  };
  const std::string reason =
      "workgroups of 12 warps are for fp8 rows in row groups of 16 and tiles of at most 32 rows";
  const std::string too_large = "the copy ring does not fit into 232448 bytes of shared memory";
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=16 stages=6") == "");
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=16 stages=8") == too_large);
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=32 stages=3") == "");
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=32 stages=4") == too_large);
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=64 stages=2") == reason);
  BOOST_TEST(violation("kv_dtype=bf16", "tile_n=16 stages=2") == reason);
  BOOST_TEST(violation("kv_dtype=bf16", "tile_n=16 stages=2 group_rows=32") == reason);
  BOOST_TEST(violation("kv_dtype=fp8", "tile_n=16 schedule=persistent") ==
             "the persistent schedule has workgroups of 4 warps for each 16 group rows");
  DeviceInfo ampere = h200();
  ampere.arch = "sm_80";
  BOOST_TEST(make_space(ampere).range(Knob::kStage1Warps).legal.back() == 8);
}

BOOST_AUTO_TEST_CASE(fp8_rows_have_neutral_tiles_of_32_where_two_rings_of_them_fit) {
  const auto shape = [](const Space& space, KvDtype kv_dtype) {
    const KernelConfig config = space.neutral(kv_dtype);
    return std::vector<int32_t>{config.tile_n, config.stages, config.stage1_warps};
  };
  DeviceInfo device = h200();
  const std::vector<int32_t> deep = {32, 4, 8}, shallow = {32, 3, 8}, small = {16, 3, 8};
  const std::vector<int32_t> bf16 = {32, 2, 8};
  BOOST_TEST(shape(make_space(device), KvDtype::kFp8) == deep);
  BOOST_TEST(shape(make_space(device), KvDtype::kBf16) == bf16);
  device.arch = "sm_80";
  device.local_memory_bytes = 163 * 1024;
  BOOST_TEST(shape(make_space(device), KvDtype::kFp8) == shallow);
  device.local_memory_bytes = 99 * 1024;
  BOOST_TEST(shape(make_space(device), KvDtype::kFp8) == small);
  BOOST_TEST(shape(make_space(device), KvDtype::kBf16) == small);
  const Space space = make_space(host());
  BOOST_TEST(to_text(space.neutral(KvDtype::kFp8)) == to_text(space.neutral()));
}

BOOST_AUTO_TEST_CASE(row_groups_of_32_have_one_ring_of_two_large_tiles_on_an_h200) {
  const Space space = make_space(h200());
  const auto violation = [&](const char* text) {
    return space.violation(Problem{}, parse_config(text, space.neutral(32))).value_or("");
  };
  BOOST_TEST(space.neutral(32).tile_n == 64);
  BOOST_TEST(space.neutral(32).stages == 2);
  BOOST_TEST(violation("") == "");
  BOOST_TEST(violation("tile_n=16 stages=11") == "");
  BOOST_TEST(violation("tile_n=32 stages=6") ==
             "the copy ring does not fit into 232448 bytes of shared memory");
  BOOST_TEST(violation("tile_n=32 stages=5") == "");
  BOOST_TEST(violation("stage1_warps=4") == "row groups of 32 have workgroups of 8 warps");
  BOOST_TEST(violation("splits=4 tile_n=32 schedule=persistent") == "");
}

BOOST_AUTO_TEST_CASE(row_groups_of_64_and_128_are_one_shape_of_bf16_kernels_on_an_h200) {
  const Space space = make_space(h200());
  Problem problem = parse_problem("batch=4 nhead=128 seq_len=1000");
  for (const int32_t rows : {64, 128}) {
    BOOST_TEST(space.violation(problem, space.neutral(rows)).value_or("") == "");
    BOOST_TEST(space.neutral(rows).group_rows == rows);
    for (const char* text : {"tile_n=32",
                             "stages=3",
                             "wait=drain",
                             "stage1_warps=4",
                             "splits=4 schedule=persistent"}) {
      const std::string reason =
          space.violation(problem, parse_config(text, space.neutral(rows))).value_or("");
      BOOST_TEST(reason.find("row groups of 64 and 128 have tile_n=64") == 0, text);
    }
  }
  BOOST_TEST(!space.allows(problem, parse_config("stage1_warps=12", space.neutral(16))));
  BOOST_TEST(space.filled_group_rows(problem) == 128);
  problem.kv_dtype = KvDtype::kFp8;
  BOOST_TEST(!space.allows(problem, space.neutral(64)));
  // Nor of 32: their launch failed on an H200.
  BOOST_TEST(!space.allows(problem, space.neutral(32)));
  BOOST_TEST(space.filled_group_rows(problem) == 16);
  DeviceInfo ampere = h200();
  ampere.arch = "sm_80";
  BOOST_TEST(make_space(ampere).range(Knob::kGroupRows).legal.back() == 32);
}

BOOST_AUTO_TEST_CASE(a_row_group_of_128_rows_takes_two_workgroups_a_split) {
  const Space space = make_space(h200());
  KernelConfig config = space.neutral(128);
  config.splits = 2;
  const Problem problem = parse_problem("batch=8 nhead=128 seq_len=8192");
  BOOST_TEST(row_groups(problem, config) == 1);
  BOOST_TEST(space.use(problem, config).stage1_workgroups == 32);
}

BOOST_AUTO_TEST_CASE(a_persistent_schedule_has_no_more_blocks_than_32_bits_count) {
  const Space space = make_space(h200());
  KernelConfig config =
      parse_config("splits=8 tile_n=16 stage1_warps=4 schedule=persistent", space.neutral());
  const Problem large = parse_problem("batch=1024 nhead=128 seq_len=4194304");
  BOOST_TEST(space.violation(large, config).value_or("") ==
             "the persistent schedule has at most 2147483647 blocks");
  config.tile_n = 32;
  config.stages = 2;
  BOOST_TEST(!space.violation(large, config));
}

BOOST_AUTO_TEST_CASE(a_device_without_a_persistent_schedule_says_so) {
  for (const DeviceInfo& device : {host(), mi355x()}) {
    const Space space = make_space(device);
    const KernelConfig config = parse_config("schedule=persistent", space.neutral());
    BOOST_TEST(space.violation(Problem{}, config).value_or("") ==
               "schedule: " + device.arch + " has no such knob");
  }
}

BOOST_AUTO_TEST_CASE(persistent_shares_are_listed_once_at_the_fewest_splits) {
  const Space space = make_space(h200());
  const Problem problem = parse_problem("batch=46 nhead=12 seq_len=16384");
  const Space::Listing listing = space.list(problem);
  std::set<int32_t> splits;
  for (const KernelConfig& config : listing.configs) {
    if (config.schedule == Schedule::kPersistent) splits.insert(config.splits);
  }
  // 6 and a third shares a request: at most 8 pieces, and the searched split counts below.
  BOOST_TEST(splits == (std::set<int32_t>{2, 3, 4, 5, 6, 8}), boost::test_tools::per_element());
  BOOST_TEST(listing.pruned.at("splits_above_pieces") > 0);
}

BOOST_AUTO_TEST_CASE(a_persistent_schedule_is_one_wave_of_equal_shares) {
  const Space space = make_space(h200());
  const KernelConfig config = parse_config(
      "splits=8 tile_n=16 stages=5 stage1_warps=4 schedule=persistent", space.neutral());
  const ResourceUse use = space.use(parse_problem("batch=46 nhead=12 seq_len=16384"), config);
  BOOST_TEST(use.stage1_workgroups == 264);
  BOOST_TEST(use.waves == 1);
  BOOST_TEST(use.trips == 179);  // ceil(46 x 1024 / 264)
  BOOST_TEST(use.workspace_bytes == workspace_bytes(46, 1, 12, 8));
}

BOOST_AUTO_TEST_CASE(an_illegal_value_names_the_nearest_legal_ones) {
  const Space space = make_space(host());
  KernelConfig config = space.neutral();
  config.tile_n = 48;
  const auto text = space.violation(Problem{}, config);
  BOOST_REQUIRE(text);
  BOOST_TEST(*text == "tile_n=48 is not legal here; the nearest are 32 and 64");
}

BOOST_AUTO_TEST_CASE(a_host_has_no_warps_and_its_wait_is_not_searched) {
  const Space space = make_space(host());
  KernelConfig config = space.neutral();
  config.stage1_warps = 4;
  BOOST_TEST(space.violation(Problem{}, config).value_or("") ==
             "stage1_warps: x86-64 has no such knob");
  BOOST_TEST(space.range(Knob::kWait).search.size() == 1u);
  BOOST_TEST(!space.range(Knob::kWait).note.empty());
}

BOOST_AUTO_TEST_CASE(split_major_order_needs_a_batch_and_whole_xcds) {
  const Space space = make_space(mi355x());
  KernelConfig config = space.neutral();
  config.order = Order::kSplitMajor;
  config.splits = 10;
  Problem problem = parse_problem("batch=24 nhead=12 seq_len=68000");
  BOOST_TEST(space.violation(problem, config).has_value());
  config.splits = 16;
  BOOST_TEST(!space.violation(problem, config).has_value());
  problem.batch = 1;
  BOOST_TEST(space.violation(problem, config).has_value());
}

BOOST_AUTO_TEST_CASE(a_ring_larger_than_the_local_memory_is_refused) {
  DeviceInfo mi300x;
  BOOST_REQUIRE(known_device("MI300X", &mi300x));
  const Space space = make_space(mi300x);
  KernelConfig config = space.neutral();
  config.tile_n = 64;
  config.stages = 2;  // 147,456 bytes against 65,536
  BOOST_TEST(space.violation(Problem{}, config).has_value());
  config.tile_n = 16;
  BOOST_TEST(!space.violation(Problem{}, config).has_value());
}

BOOST_AUTO_TEST_CASE(resource_use_counts_workgroups_waves_and_trips) {
  const Space space = make_space(mi355x());
  KernelConfig config = space.neutral();
  config.splits = 32;
  config.stage2_tiles = 4;
  const ResourceUse use = space.use(parse_problem("batch=8 nhead=12 seq_len=68000"), config);
  BOOST_TEST(use.stage1_workgroups == 256);
  BOOST_TEST(use.waves == 1);
  BOOST_TEST(use.trips == 34);
  BOOST_TEST(use.stage2_workgroups == 8 * 12 * 4);
  BOOST_TEST(use.local_memory_bytes == 2 * 64 * 1152);
  BOOST_TEST(use.workspace_bytes == workspace_bytes(8, 1, 12, 32));
}

BOOST_AUTO_TEST_CASE(row_groups_hold_the_query_rows_of_a_request_whatever_its_positions) {
  const auto groups = [](const char* problem, int32_t group_rows) {
    KernelConfig config;
    config.group_rows = group_rows;
    return row_groups(parse_problem(problem), config);
  };
  BOOST_TEST(groups("batch=1 nhead=12 seq_len=100", 16) == 1);
  BOOST_TEST(groups("batch=1 nhead=12 seq_len=100 q_len=2", 16) == 2);
  BOOST_TEST(groups("batch=1 nhead=12 seq_len=100 q_len=4", 16) == 3);
  BOOST_TEST(groups("batch=1 nhead=12 seq_len=100 q_len=2", 32) == 1);
  BOOST_TEST(groups("batch=1 nhead=128 seq_len=100 q_len=8", 128) == 8);
}

BOOST_AUTO_TEST_CASE(a_search_visits_no_wider_row_groups_than_a_request_fills) {
  const Space space = with_wide_groups();
  const auto widths = [&](const char* problem) {
    std::set<int32_t> found;
    for (const KernelConfig& config : space.list(parse_problem(problem)).configs) {
      found.insert(config.group_rows);
    }
    return found;
  };
  BOOST_TEST(widths("batch=1 nhead=16 seq_len=100") == (std::set<int32_t>{16}));
  BOOST_TEST(widths("batch=1 nhead=12 seq_len=100 q_len=2") == (std::set<int32_t>{16, 32, 64}));
  BOOST_TEST(widths("batch=1 nhead=128 seq_len=100") == (std::set<int32_t>{16, 32, 64}));
  const auto listing = space.list(parse_problem("batch=1 nhead=16 seq_len=100"));
  BOOST_TEST(listing.pruned.at("group_rows_unfilled") > 0);
  // Pruned, not illegal.
  BOOST_TEST(!space.violation(parse_problem("batch=1 nhead=16 seq_len=100"), space.neutral(64)));
}

BOOST_AUTO_TEST_CASE(wider_row_groups_may_have_other_neutral_values) {
  const Space space = with_wide_groups();
  BOOST_TEST(to_text(space.neutral()) == to_text(space.neutral(16)));
  BOOST_TEST(to_text(space.neutral(32)) == to_text(space.neutral()) + " group_rows=32");
  BOOST_TEST(space.neutral(64).tile_n == 128);
  KernelConfig illegal = space.neutral(64);
  illegal.tile_n = 48;
  BOOST_CHECK_THROW(Space(host(), space.ranges(), {}, {illegal}), Error);
  BOOST_CHECK_THROW(Space(host(), space.ranges(), {}, {}, illegal), Error);
}

BOOST_AUTO_TEST_CASE(the_workspace_bound_grows_with_every_argument) {
  for (int64_t splits = 2; splits < 100; ++splits) {
    BOOST_TEST_REQUIRE(workspace_bytes(8, 2, 12, splits + 1) >= workspace_bytes(8, 2, 12, splits));
    BOOST_TEST_REQUIRE(workspace_bytes(9, 2, 12, splits) >= workspace_bytes(8, 2, 12, splits));
    BOOST_TEST_REQUIRE(workspace_bytes(8, 3, 12, splits) >= workspace_bytes(8, 2, 12, splits));
    BOOST_TEST_REQUIRE(workspace_bytes(8, 2, 13, splits) >= workspace_bytes(8, 2, 12, splits));
  }
  BOOST_TEST(workspace_bytes(8, 2, 12, 1) == 0);
}

BOOST_AUTO_TEST_CASE(a_space_without_its_neutral_value_is_an_internal_error) {
  std::vector<KnobRange> ranges = make_space(host()).ranges();
  ranges[0].search = {2, 4};
  BOOST_CHECK_THROW(Space(host(), ranges, {}), Error);
}

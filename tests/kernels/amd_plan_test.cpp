// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE amd_plan
#include "kernels/amd_plan.h"

#include <boost/test/unit_test.hpp>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"

using namespace mla;

namespace {

Space space_of(const char* name) {
  DeviceInfo info;
  BOOST_REQUIRE(known_device(name, &info));
  return make_space(info);
}

std::string violation(const Space& space, const std::string& knobs) {
  return space.violation(Problem{}, parse_config(knobs, space.neutral())).value_or("");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_pool_below_4_gib_is_narrow_and_one_of_unknown_size_is_not) {
  DecodeParams params;
  BOOST_TEST(!is_narrow_pool(params));
  params.kv_row_stride = 1024;  // 2,048 bytes
  params.kv_rows = (int64_t{1} << 21) - 1;
  BOOST_TEST(is_narrow_pool(params));
  params.kv_rows = int64_t{1} << 21;
  BOOST_TEST(!is_narrow_pool(params));
}

BOOST_AUTO_TEST_CASE(kernels_are_named_by_shape_wait_and_addressing) {
  DecodeParams params;
  params.kv_rows = 1000;
  KernelConfig config = parse_config("tile_n=32 stages=4 wait=partial stage1_warps=4");
  BOOST_TEST(symbol_name(amd_stage1(params, config, true)) == "stage1_n32_s4_partial_b32");
  config.wait = Wait::kDrain;
  params.kv_rows = 0;
  BOOST_TEST(symbol_name(amd_stage1(params, config, false)) == "copy_n32_s4_drain_b64");
}

BOOST_AUTO_TEST_CASE(an_unsplit_launch_has_no_second_kernel) {
  DecodeParams params;
  params.batch = 2;
  params.nhead = 20;
  params.q_len = 3;
  const KernelConfig config = parse_config("splits=1 tile_n=16 stages=3 stage2_warps=8");
  BOOST_TEST(amd_stage1_launch(params, config).workgroups == 2 * 4);  // 60 query rows
  BOOST_TEST(amd_stage2_launch(params, config).workgroups == 0);
  const KernelConfig split =
      parse_config("splits=5 tile_n=16 stages=3 stage2_tiles=4 stage2_warps=2");
  BOOST_TEST(amd_stage1_launch(params, split).workgroups == 2 * 4 * 5);
  BOOST_TEST(amd_stage2_launch(params, split).workgroups == 2 * 20 * 3 * 4);
  BOOST_TEST(amd_stage2_launch(params, split).waves == 2);
}

BOOST_AUTO_TEST_CASE(rings_are_legal_where_their_lds_fits_the_part) {
  const Space small = space_of("MI300X"), large = space_of("MI355X");
  for (const Space* space : {&small, &large}) BOOST_TEST(violation(*space, "") == "");
  for (const char* fits : {"tile_n=16 stages=2", "tile_n=16 stages=3"}) {
    BOOST_TEST(violation(small, fits) == "");
  }
  for (const char* too_large : {"tile_n=16 stages=4", "tile_n=32 stages=2"}) {
    BOOST_TEST(violation(small, too_large) == "the copy ring does not fit into 65536 bytes of LDS");
    BOOST_TEST(violation(large, too_large) == "");
  }
  for (const char* fits : {"tile_n=32 stages=4", "tile_n=64 stages=2"}) {
    BOOST_TEST(violation(large, fits) == "");
  }
  BOOST_TEST(violation(large, "tile_n=64 stages=3") ==
             "the copy ring does not fit into 163840 bytes of LDS");
}

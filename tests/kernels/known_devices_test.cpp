// SPDX-License-Identifier: MIT
// Parts by name, and what their partitions are taken for.
#define BOOST_TEST_MODULE kernels_known_devices
#include "kernels/known_devices.h"

#include <boost/test/unit_test.hpp>

using namespace mla;

namespace {

DeviceInfo amd_gpu(const std::string& arch, int32_t compute_units) {
  DeviceInfo info;
  info.arch = arch;
  info.compute_units = compute_units;
  info.xcds = 0;
  return info;
}

std::string key_of(const std::string& arch, int32_t compute_units) {
  DeviceInfo info = amd_gpu(arch, compute_units);
  return set_amd_partition(&info) ? device_key(info) : "unknown";
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_architecture_stands_for_the_part_that_its_figures_are_published_for) {
  BOOST_CHECK_EQUAL(find_known_arch("gfx942")->name, "MI300X");
  BOOST_CHECK_EQUAL(find_known_arch("gfx950")->name, "MI355X");
  BOOST_CHECK(find_known_arch("gfx90a") == nullptr);
  BOOST_CHECK(find_known_device("gfx950") == nullptr);
}

BOOST_AUTO_TEST_CASE(the_partition_mode_of_an_amd_gpu_follows_from_its_compute_units) {
  BOOST_CHECK_EQUAL(key_of("gfx942", 304), "gfx942/304cu/8xcd/SPX");
  BOOST_CHECK_EQUAL(key_of("gfx942", 152), "gfx942/152cu/4xcd/DPX");
  BOOST_CHECK_EQUAL(key_of("gfx942", 76), "gfx942/76cu/2xcd/QPX");
  BOOST_CHECK_EQUAL(key_of("gfx942", 38), "gfx942/38cu/1xcd/CPX");
  BOOST_CHECK_EQUAL(key_of("gfx942", 80), "gfx942/80cu/4xcd/SPX");
  BOOST_CHECK_EQUAL(key_of("gfx942", 20), "gfx942/20cu/1xcd/CPX");
  BOOST_CHECK_EQUAL(key_of("gfx950", 256), "gfx950/256cu/8xcd/SPX");
  BOOST_CHECK_EQUAL(key_of("gfx950", 64), "gfx950/64cu/2xcd/QPX");
}

BOOST_AUTO_TEST_CASE(compute_units_of_no_known_part_are_not_guessed_at) {
  DeviceInfo info = amd_gpu("gfx942", 303);
  BOOST_CHECK(!set_amd_partition(&info));
  BOOST_CHECK_EQUAL(info.xcds, 0);
  BOOST_CHECK_EQUAL(info.partition, "");
  BOOST_CHECK_EQUAL(key_of("gfx950", 304), "unknown");
}

// Reading four times 4 MiB, the L2 of one XCD, would leave a cold run's rows in the Infinity Cache.
BOOST_AUTO_TEST_CASE(the_last_level_cache_of_an_amd_gpu_is_its_infinity_cache) {
  DeviceInfo info = amd_gpu("gfx950", 32);
  BOOST_REQUIRE(set_amd_partition(&info));
  BOOST_CHECK_EQUAL(info.last_level_cache_bytes, int64_t{256} << 20);
}

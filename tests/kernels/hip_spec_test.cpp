// SPDX-License-Identifier: MIT
// The text that names a GPU.
#define BOOST_TEST_MODULE kernels_hip_spec
#include "kernels/hip/hip_spec.h"

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"

using namespace mla;
using namespace mla::hip;

namespace {

DeviceInfo found(int32_t xcds, const std::string& partition) {
  DeviceInfo info;
  info.arch = "gfx942";
  info.compute_units = 303;
  info.xcds = xcds;
  info.partition = partition;
  return info;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_gpu_is_named_by_its_number_and_the_first_needs_none) {
  BOOST_CHECK_EQUAL(parse_hip_spec("hip").ordinal, 0);
  BOOST_CHECK_EQUAL(parse_hip_spec("hip:3").ordinal, 3);
  BOOST_CHECK_EQUAL(parse_hip_spec("hip:3").xcds, 0);
}

BOOST_AUTO_TEST_CASE(chiplets_and_partition_mode_can_be_said) {
  const HipSpec spec = parse_hip_spec("hip:1,xcds=4,partition=DPX");
  BOOST_CHECK_EQUAL(spec.ordinal, 1);
  BOOST_CHECK_EQUAL(spec.xcds, 4);
  BOOST_CHECK_EQUAL(spec.partition, "DPX");
}

BOOST_AUTO_TEST_CASE(a_spec_that_cannot_be_read_is_a_usage_error) {
  for (const char* text : {"hip:",
                           "hip:x",
                           "hip:-1",
                           "hip:1024",
                           "hip:0,",
                           "hip:0,xcds=0",
                           "hip:0,xcds=65",
                           "hip:0,partition=",
                           "hip:0,partition=a b",
                           "hip:0,cus=4",
                           "hop"}) {
    BOOST_CHECK_EXCEPTION(parse_hip_spec(text), Error, [](const Error& error) {
      return error.code() == ErrorCode::kUsage;
    });
  }
}

BOOST_AUTO_TEST_CASE(what_the_spec_says_goes_over_what_was_found) {
  DeviceInfo info = found(8, "SPX");
  apply(parse_hip_spec("hip:0"), &info);
  BOOST_CHECK_EQUAL(device_key(info), "gfx942/303cu/8xcd/SPX");
  apply(parse_hip_spec("hip:0,xcds=2,partition=TPX"), &info);
  BOOST_CHECK_EQUAL(device_key(info), "gfx942/303cu/2xcd/TPX");
}

BOOST_AUTO_TEST_CASE(a_gpu_whose_chiplets_nobody_told_says_how_to_tell_them) {
  DeviceInfo info = found(0, "");
  BOOST_CHECK_EXCEPTION(apply(parse_hip_spec("hip:2"), &info), Error, [](const Error& error) {
    return error.code() == ErrorCode::kDevice &&
           std::string(error.what()).find("hip:2,xcds=N") != std::string::npos;
  });
}

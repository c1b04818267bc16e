// SPDX-License-Identifier: MIT
// Runs the device tests on the first GPU; exit status 77 (Skipped) and a reason where there is
// none.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <iostream>

#include "kernels/hip/hip_device.h"

namespace {

#ifdef BOOST_TEST_ALTERNATIVE_INIT_API  // the shared library's form of it
bool init() {
  return true;
}
#else
boost::unit_test::test_suite* init(int, char**) {
  return nullptr;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const mla::DeviceListing gpu = mla::hip::list_hip_devices().front();
  if (gpu.info.name.empty()) {
    std::cout << "skipped: " << gpu.spec << ": " << gpu.note << "\n";
    return 77;
  }
  std::cout << gpu.spec << ": " << gpu.info.name << ", " << gpu.info.arch << "\n";
  return boost::unit_test::unit_test_main(init, argc, argv);
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE gpu_driver
#include "kernels/hip/gpu_driver.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace mla::hip {
namespace {

BOOST_AUTO_TEST_CASE(a_machine_without_a_gpu_has_no_driver) {
  const testing::TemporaryDirectory root;
  BOOST_TEST(gpu_driver(root.path()) == "");
}

BOOST_AUTO_TEST_CASE(a_module_has_a_version_of_its_own_or_is_the_kernels) {
  const testing::TemporaryDirectory root;
  const std::filesystem::path module = root.path() / "sys/module/nvidia";
  std::filesystem::create_directories(module);
  BOOST_TEST(gpu_driver(root.path()) == "nvidia of the kernel");
  std::ofstream(module / "version") << "580.95.05\n";
  BOOST_TEST(gpu_driver(root.path()) == "nvidia 580.95.05");
}

}  // namespace
}  // namespace mla::hip

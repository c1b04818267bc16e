// SPDX-License-Identifier: MIT
// Runs the device tests on the first GPU; exit status 77 (Skipped) and a reason where there is
// none. `worker` as the first argument makes it the worker process of its own tests.
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include <unistd.h>

#include <boost/test/included/unit_test.hpp>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "kernels/hip/hip_device.h"
#include "tests/device/fault_kernels.h"
#include "tuner/live_source.h"
#include "tuner/worker_faults.h"
#include "tuner/worker_server.h"

namespace {

// worker --device SPEC --parent PID
int worker_main(const std::string& spec, const char* parent) {
  if (!mla::tuner::become_worker(std::atoi(parent))) return 1;
  mla::tuner::serve_worker(STDIN_FILENO, [&spec] {
    return std::make_unique<mla::tuner::LiveSource>(mla::tuner::open_worker_device(
        spec, mla::open_device, {mla::test::queue_illegal_read, mla::test::queue_spin}));
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "worker") return worker_main(argv[3], argv[5]);
  const mla::DeviceListing gpu = mla::hip::list_hip_devices().front();
  if (gpu.info.name.empty()) {
    std::cout << "skipped: " << gpu.spec << ": " << gpu.note << "\n";
    return 77;
  }
  std::cout << gpu.spec << ": " << gpu.info.name << ", " << gpu.info.arch << "\n";
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}

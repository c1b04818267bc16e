// SPDX-License-Identifier: MIT
// The worker of tests: as `mla-tune worker`, with a device "fake" beside those of the product.
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "tests/support/fake_device.h"
#include "tuner/live_source.h"
#include "tuner/worker_faults.h"
#include "tuner/worker_server.h"

namespace {

std::unique_ptr<mla::Device> open_test_device(const std::string& spec) {
  if (spec == "fake") return std::make_unique<mla::test::FakeDevice>();
  return mla::open_device(spec);
}

}  // namespace

// worker --device SPEC --parent PID
int main(int argc, char** argv) {
  if (argc != 6 || !mla::tuner::become_worker(std::atoi(argv[5]))) return 1;
  const std::string spec = argv[3];
  mla::tuner::serve_worker(STDIN_FILENO, [&spec] {
    return std::make_unique<mla::tuner::LiveSource>(
        mla::tuner::open_worker_device(spec, open_test_device));
  });
  return 0;
}

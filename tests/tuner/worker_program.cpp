// SPDX-License-Identifier: MIT
// The worker of worker_source_test: as `mla-tune worker`, on the fake device. Specs: "fake",
// "faulty:RULES:fake".
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "kernels/error.h"
#include "kernels/text.h"
#include "tests/tuner/live_fake_device.h"
#include "tuner/live_source.h"
#include "tuner/worker_faults.h"
#include "tuner/worker_server.h"

namespace {

std::unique_ptr<mla::Device> open_fake(const std::string& spec) {
  if (spec != "fake") throw mla::Error(mla::ErrorCode::kUsage, "unknown " + mla::quoted(spec));
  return std::make_unique<mla::test::FakeDevice>();
}

}  // namespace

// worker --device SPEC --parent PID
int main(int argc, char** argv) {
  if (argc != 6 || !mla::tuner::become_worker(std::atoi(argv[5]))) return 1;
  const std::string spec = argv[3];
  mla::tuner::serve_worker(STDIN_FILENO, [&spec] {
    return std::make_unique<mla::tuner::LiveSource>(
        mla::tuner::open_worker_device(spec, open_fake));
  });
  return 0;
}

// SPDX-License-Identifier: MIT
// The kernels for gfx942 and gfx950, executed: every compiled shape against the float64 reference.
#define BOOST_TEST_MODULE amdgcn_decode
#include <boost/test/unit_test.hpp>

#include "tests/amdgcn/emulated_decode.h"

using namespace mla;
using namespace mla::test;
using amdgcn::kModes;

namespace {

void require_right(EmulatedGpu& gpu,
                   const Workload& workload,
                   const KernelConfig& config,
                   amdgcn::Mode mode) {
  const auto reference = reference_sample(workload.params(), 64, 7);
  const Outcome outcome = check(reference, workload, gpu.decode(workload, config, mode));
  BOOST_TEST_REQUIRE(outcome.ok(), gpu.arch() << " " << to_text(config) << ": " << outcome.text);
}

}  // namespace

BOOST_AUTO_TEST_CASE(first) {
  for (const char* arch : amdgcn::kTargets) {
    EmulatedGpu gpu(arch);
    Problem problem;
    const auto workload = make_workload(problem, {200});
    for (KernelConfig config : stage1_shapes(arch)) {
      for (const int splits : {1, 3}) {
        config.splits = splits;
        for (const auto mode : kModes) {
          BOOST_TEST_MESSAGE(arch << " " << to_text(config));
          require_right(gpu, *workload, config, mode);
        }
      }
    }
  }
}

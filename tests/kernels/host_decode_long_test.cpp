// SPDX-License-Identifier: MIT
// The whole product of problems and of configurations, on every instruction set of this CPU.
// Minutes.
#define BOOST_TEST_MODULE host_decode_long
#include <boost/test/unit_test.hpp>
#include <map>

#include "policy/default_policy.h"
#include "tests/kernels/host_cases.h"

using namespace mla;
using namespace mla::test;

namespace {

constexpr int64_t kSampledRows = 12;
constexpr uint32_t kSeed = 21;
constexpr int32_t kMostSplits = 64;

}  // namespace

BOOST_AUTO_TEST_CASE(the_default_is_within_tolerance_on_every_problem) {
  for (const Choice& choice : all_choices(problem_sizes())) {
    const auto workload = problem_of(choice);
    const auto rows = reference_sample(workload->params(), kSampledRows, kSeed);
    for (const std::string& isa : instruction_sets()) {
      const auto device = open_host(isa);
      const auto loaded = device->load(workload);
      const KernelConfig config = policy::DefaultPolicy(device->space())(workload->problem());
      BOOST_TEST_CONTEXT(isa << " " << to_text(workload->problem()) << " " << to_text(config)) {
        const Outcome ran = loaded->run(config);
        BOOST_TEST(ran.ok(), ran.text);
        const Outcome checked = check(rows, *workload, read(*loaded));
        BOOST_TEST(checked.ok(), checked.text);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(
    every_configuration_is_within_tolerance_and_only_splits_and_tiles_change_bits) {
  for (const auto& workload : configured_problems()) {
    const auto rows = reference_sample(workload->params(), kSampledRows, kSeed);
    for (const std::string& isa : instruction_sets()) {
      const auto device = open_host(isa);
      const auto loaded = device->load(workload);
      std::map<std::pair<int32_t, int32_t>, Output> first;
      for (int32_t splits = 1; splits <= kMostSplits + 1; ++splits) {
        for (const Choice& choice : all_choices({4, 3, 2, 2, 4})) {
          KernelConfig config;
          // The last one is above the block count of every problem.
          config.splits = splits <= kMostSplits ? splits : 200;
          config.tile_n = 16 << choice[0];
          config.stages = static_cast<int32_t>(2 + choice[1]);
          config.wait = static_cast<Wait>(choice[2]);
          config.order = static_cast<Order>(choice[3]);
          config.stage2_tiles = 1 << choice[4];
          const Outcome ran = loaded->run(config);
          BOOST_REQUIRE_MESSAGE(ran.ok(), isa << " " << to_text(config) << ": " << ran.text);
          Output output = read(*loaded);
          const auto [same, is_first] = first.try_emplace({config.splits, config.tile_n}, output);
          if (!is_first) {
            BOOST_REQUIRE_MESSAGE(same->second == output, isa << " bits of " << to_text(config));
            continue;
          }
          const Outcome checked = check(rows, *workload, output);
          BOOST_REQUIRE_MESSAGE(checked.ok(), isa << " " << to_text(config) << checked.text);
        }
      }
    }
  }
}

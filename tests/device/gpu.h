// SPDX-License-Identifier: MIT
// What the device tests share: the GPU, and a problem checked against the float64 reference.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "kernels/hip/hip_device.h"
#include "kernels/reference.h"
#include "tests/support/decode_cases.h"

namespace mla::test {

inline Device& test_gpu() {
  static const std::unique_ptr<Device> device = hip::open_hip_device("hip:0");
  return *device;
}

// The largest value that the knob has and that is not above `wanted`, else its smallest.
inline int32_t legal_value(Knob knob, int32_t wanted) {
  const std::vector<int32_t>& legal = test_gpu().space().range(knob).legal;
  const auto above = std::upper_bound(legal.begin(), legal.end(), wanted);
  return above == legal.begin() ? legal.front() : *(above - 1);
}

// The default's knobs with another shape of stage 1, or with the nearest smaller one that the
// device has.
inline KernelConfig config_of(
    int splits, int tile_n, int stages, int stage1_warps, int group_rows = 16) {
  KernelConfig config = test_gpu().space().neutral(legal_value(Knob::kGroupRows, group_rows));
  config.splits = splits;
  config.stage1_warps = legal_value(Knob::kStage1Warps, stage1_warps);
  for (; tile_n >= 1; tile_n /= 2) {
    config.tile_n = legal_value(Knob::kTileN, tile_n);
    for (int depth = stages; depth >= 2; --depth) {
      config.stages = legal_value(Knob::kStages, depth);
      if (!test_gpu().space().violation({}, config)) return config;
    }
  }
  return config;
}

// For tests of what only some devices have.
inline boost::test_tools::assertion_result has_persistent_schedule(boost::unit_test::test_unit_id) {
  const std::vector<int32_t>& legal = test_gpu().space().range(Knob::kSchedule).legal;
  return std::count(legal.begin(), legal.end(), static_cast<int32_t>(Schedule::kPersistent)) > 0;
}

inline boost::test_tools::assertion_result has_fp8_kernels(boost::unit_test::test_unit_id) {
  Problem problem;
  problem.kv_dtype = KvDtype::kFp8;
  return test_gpu().space().allows(problem, test_gpu().space().neutral());
}

inline KernelConfig persistent(int splits, int tile_n, int stages, int group_rows = 16) {
  KernelConfig config = config_of(splits, tile_n, stages, group_rows / 4, group_rows);
  config.schedule = Schedule::kPersistent;
  return config;
}

// Workgroups of three teams, which fp8 rows alone have, and not on every device.
inline std::vector<KernelConfig> three_team_shapes() {
  std::vector<KernelConfig> configs;
  for (const int splits : {1, 2, 7}) {
    for (const char* shape : {"tile_n=16 stages=2",
                              "tile_n=16 stages=6",
                              "tile_n=32 stages=2 wait=drain",
                              "tile_n=32 stages=3",
                              "tile_n=32 stages=3 wait=drain"}) {
      KernelConfig config = parse_config(shape, test_gpu().space().neutral());
      config.splits = splits;
      config.stage1_warps = 12;
      configs.push_back(config);
    }
  }
  return configs;
}

inline std::vector<KernelConfig> allowed(const Problem& problem,
                                         std::vector<KernelConfig> configs) {
  std::erase_if(configs, [&](const KernelConfig& config) {
    return !test_gpu().space().allows(problem, config);
  });
  return configs;
}

// Every compiled shape of stage 1 at its shallowest ring, with 1, a few and many splits.
inline std::vector<KernelConfig> stage1_shapes(const Problem& problem = {}) {
  const Space& space = test_gpu().space();
  std::vector<KernelConfig> configs;
  for (const int32_t group_rows : space.range(Knob::kGroupRows).legal) {
    KernelConfig config = space.neutral(group_rows);
    config.stages = space.range(Knob::kStages).legal.front();
    for (const int32_t tile_n : space.range(Knob::kTileN).legal) {
      for (const int32_t warps : space.range(Knob::kStage1Warps).legal) {
        for (const int splits : {1, 2, 3, 64}) {
          config.tile_n = tile_n;
          config.stage1_warps = warps;
          config.splits = splits;
          configs.push_back(config);
        }
      }
    }
  }
  return allowed(problem, configs);
}

inline Output read_output(LoadedProblem& problem) {
  Output output;
  problem.read_output(&output.out, &output.lse);
  return output;
}

// A workload on the GPU and reference rows of it.
class CheckedProblem {
 public:
  CheckedProblem(const Problem& problem, const WorkloadOptions& options, int64_t sampled_rows)
      : workload_(std::make_shared<Workload>(problem, options)),
        reference_(reference_sample(workload_->params(), sampled_rows, 1)),
        loaded_(test_gpu().load(workload_)) {}

  // Runs and compares: sampled rows with the reference, every element for being a number.
  Outcome check(const KernelConfig& config) {
    const Outcome outcome = loaded_->run(config);
    if (!outcome.ok()) return outcome;
    const Output output = read_output(*loaded_);
    const bool finite = std::none_of(output.out.begin(), output.out.end(), [](uint16_t bits) {
      return (bits & 0x7F80) == 0x7F80;
    });
    if (!finite) return {OutcomeKind::kNonFinite, "an element is not a number"};
    return test::check(reference_, *workload_, output);
  }

  LoadedProblem& loaded() { return *loaded_; }

 private:
  std::shared_ptr<const Workload> workload_;
  std::vector<ReferenceRow> reference_;
  std::unique_ptr<LoadedProblem> loaded_;
};

// Every value of each of the knobs, the others as in `base`, has the output of `base`.
inline void check_same_bits(CheckedProblem& checked,
                            const Problem& problem,
                            const KernelConfig& base,
                            const std::vector<Knob>& knobs) {
  BOOST_REQUIRE_MESSAGE(checked.check(base).ok(), to_text(base));
  const Output expected = read_output(checked.loaded());
  for (const Knob knob : knobs) {
    for (const int32_t value : test_gpu().space().range(knob).legal) {
      KernelConfig config = base;
      set(&config, knob, value);
      if (!test_gpu().space().allows(problem, config)) continue;
      BOOST_REQUIRE_MESSAGE(checked.loaded().run(config).ok(), to_text(config));
      const Output output = read_output(checked.loaded());
      BOOST_CHECK_MESSAGE(output.out == expected.out, to_text(config));
      BOOST_CHECK_MESSAGE(output.lse == expected.lse, to_text(config));
    }
  }
}

}  // namespace mla::test

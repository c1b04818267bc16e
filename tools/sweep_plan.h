// SPDX-License-Identifier: MIT
// What a sweep measures. A lever is one change to the drained baseline: a partial wait, split-major
// order, or a tiled stage 2 with the warps coupled to it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/space.h"

namespace mla::tools {

enum class Lever { kWait, kOrder, kStage2 };
inline constexpr std::array<Lever, 3> kLevers = {Lever::kWait, Lever::kOrder, Lever::kStage2};

// The leg that has this lever alone: "partial_wait", "split_major", "stage2_tiling".
std::string_view name(Lever lever);
// "wait", "order" or "stage2", as the command line has them.
Lever parse_lever(std::string_view text);

struct SweepLeg {
  std::string name;
  KernelConfig config;
  std::string left_out;  // why it is not measured; empty where it is
};

// Legs that are measured in the same rounds. The first is the baseline.
struct SweepGroup {
  Problem problem;
  std::vector<SweepLeg> legs;
};

// The drained baseline, each lever alone, all of them, and the tuner's choice where there is one.
// Stage 2 alone is tiled as finely as it gets; within all levers as the default policy does.
SweepGroup lever_group(const Space& space,
                       const Problem& problem,
                       const std::optional<KernelConfig>& tuned);

// The baseline and one lever at a forced split count.
SweepGroup dose_group(const Space& space, const Problem& problem, Lever lever, int32_t splits);

}  // namespace mla::tools

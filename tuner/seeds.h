// SPDX-License-Identifier: MIT
// A small search: where it begins (winners of shapes nearby, split counts that fill the device,
// those that the prior likes) and where it goes on (one step of one knob). A grid of shapes is
// tuned this way in a fraction of a second a shape, where a search of the whole space takes
// seconds.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/space.h"
#include "tuner/prior.h"

namespace mla::tuner {

// Configurations that a small search begins with, and neighbours that it measures beside them: two
// steps in all knobs. The first shape of a family begins with a sample of the space as well.
inline constexpr size_t kSmallSeeds = 14;
inline constexpr size_t kSmallSteps = 30;

// The best configuration of a shape that was tuned, whether or not it beat the default there.
struct KnownWinner {
  Problem problem;
  KernelConfig config;
  KernelConfig default_config;
};

// Best guesses first, legal and distinct in effect. `prior` may be null.
std::vector<KernelConfig> seed_configs(const Space& space,
                                       const Problem& problem,
                                       const std::vector<KnownWinner>& known,
                                       const Prior* prior,
                                       size_t most);

// One step of one knob away from `center`.
std::vector<KernelConfig> near_configs(const Space& space,
                                       const Problem& problem,
                                       const KernelConfig& center);

}  // namespace mla::tuner

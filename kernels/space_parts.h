// SPDX-License-Identifier: MIT
// What the spaces of several kinds of device have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/space.h"

namespace mla {

inline constexpr int32_t kDrained = static_cast<int32_t>(Wait::kDrain);
inline constexpr int32_t kPartial = static_cast<int32_t>(Wait::kPartial);
inline constexpr int32_t kUniform = static_cast<int32_t>(Schedule::kUniform);
inline constexpr int32_t kPersistent = static_cast<int32_t>(Schedule::kPersistent);

// Above every split count that a search visits or a default asks for (one request on 304 CUs), and
// a bound on the workspace that a database can ask for.
inline constexpr int32_t kMaxSplits = 1024;

std::vector<int32_t> one_to(int32_t last);

// Dense where a step changes the trips by much, about quarter octaves above, and the default's
// value.
std::vector<int32_t> split_search(int32_t compute_units);

Constraint split_major_batch();
Constraint split_major_xcds(int32_t xcds);

}  // namespace mla

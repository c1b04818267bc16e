// SPDX-License-Identifier: MIT
// The float64 reference of a workload whose pool lies on a device: the rows of the sampled requests
// are made again on the host, by all of its threads.
#pragma once

#include <vector>

#include "kernels/reference.h"
#include "kernels/workload.h"

namespace mla {

// As reference_sample() of reference.h, with or without a pool on the host; in the last bits other
// than that where a request is so long that it is taken in parts.
std::vector<ReferenceRow> reference_sample(const Workload& workload, int64_t count, uint64_t seed);

}  // namespace mla

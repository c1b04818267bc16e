// SPDX-License-Identifier: MIT
// The float64 reference of a workload whose pool lies on a device: the rows of the sampled requests
// are made again on the host, request by request.
#pragma once

#include <vector>

#include "kernels/reference.h"
#include "kernels/workload.h"

namespace mla {

// As reference_sample() of reference.h, with or without a pool on the host. A thread for each
// request that is sampled.
std::vector<ReferenceRow> reference_sample(const Workload& workload, int64_t count, uint64_t seed);

}  // namespace mla

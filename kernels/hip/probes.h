// SPDX-License-Identifier: MIT
// What a GPU can do at most: the roofs that the decode kernels are held against.
#pragma once

#include "kernels/roofs.h"

namespace mla::hip {

// `device` and `problem` must come from open_hip_device; Error(kInternal) otherwise.
// Read: 8 GiB once (or what is free), best of several. L2: over and over a third of it, the better
// of reading it in order and of gathering its rows. Empty graph: of one empty kernel.
RoofRates probe_hip(Device& device);

// Gathers the scattered KV rows that a decode step reads and does nothing else: the roof of a
// decode kernel at page size 1. Cold caches; the fastest of several ring shapes and split counts,
// each the median of `rounds`.
CopyOnly time_copy_only(LoadedProblem& problem, int rounds);

}  // namespace mla::hip

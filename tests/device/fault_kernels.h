// SPDX-License-Identifier: MIT
// Kernels that ruin the launch behind them, queued on the stream that a HIP device decodes on.
#pragma once

#include "kernels/device.h"

namespace mla::test {

// Reads an address that is not mapped: every further call to the device fails in this process.
void queue_illegal_read(Device& device);

// Spins for 20 s and then ends, so that a worker that nobody kills leaves the device usable.
void queue_spin(Device& device);

}  // namespace mla::test

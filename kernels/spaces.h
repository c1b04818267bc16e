// SPDX-License-Identifier: MIT
// The spaces of the device families, as data. Plain C++: a policy library or a replayed recording
// can ask for the space of a GPU that is not there.
#pragma once

#include "kernels/space.h"

namespace mla {

// The space of a device by its arch: "gfx*" amdgcn, "sm_*" NVIDIA, anything else the host.
Space make_space(const DeviceInfo& device);

}  // namespace mla

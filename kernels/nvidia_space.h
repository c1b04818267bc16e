// SPDX-License-Identifier: MIT
// The space of NVIDIA GPUs, from sm_80 on.
#pragma once

#include "kernels/space.h"

namespace mla {

Space nvidia_space(const DeviceInfo& device);

}  // namespace mla

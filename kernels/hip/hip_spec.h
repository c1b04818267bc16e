// SPDX-License-Identifier: MIT
// "hip:0,xcds=4,partition=DPX": a GPU by its number, and what the user knows better of it than HIP
// tells. Plain C++.
#pragma once

#include <string>

#include "kernels/device_info.h"

namespace mla::hip {

struct HipSpec {
  int ordinal = 0;
  int32_t xcds = 0;       // 0: as found
  std::string partition;  // empty: as found
};

// spec: "hip" or "hip:N[,xcds=N][,partition=MODE]". Throws Error(kUsage) for another text.
HipSpec parse_hip_spec(const std::string& spec);

// Puts what the spec says over what was found. Error(kDevice) where the XCDs are not known then.
void apply(const HipSpec& spec, DeviceInfo* info);

}  // namespace mla::hip

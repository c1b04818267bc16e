// SPDX-License-Identifier: MIT
// The device that a command means.
#pragma once

#include <string>
#include <vector>

#include "kernels/space.h"

namespace mla::tools {

// `given`, or the best device present. Throws Error(kDevice) where there is none.
std::string device_spec(const std::string& given);

// The same for a list, of which "hip:all" is every GPU that can be used.
std::vector<std::string> device_specs(const std::vector<std::string>& given);

// Whether times come from a recording or a formula, so that nothing is measured.
bool is_simulated(const std::string& spec);

// The space of a device without a worker process: what `space` and `lookup` need. Takes
// "amdgcn:MI355X" and "amdgcn:gfx950" as well: a part that is described and need not be there.
// Throws like open_device and open_source.
Space space_of(const std::string& spec);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Device specs to sources: the one place that knows every kind.
#pragma once

#include <memory>
#include <string>

#include "tuner/source.h"

namespace mla::tuner {

// Devices that measure run in a worker process of `worker_program`, which understands
// `worker --device SPEC --parent PID`; recordings and formulas run in this process. Throws
// Error(kUsage) for a spec of no known form, naming the forms, and Error(kDevice) for a device that
// is not there.
std::unique_ptr<CandidateSource> open_source(const std::string& device_spec,
                                             const std::string& worker_program);

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// The tuner's choice for a shape, for commands that measure it beside others.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/problem.h"

namespace mla::tools {

// The winners of one device in several databases; of one shape the last database's counts.
class TunedConfigs {
 public:
  // Throws Error(kDatabase) for a file that cannot be read.
  TunedConfigs(const std::vector<std::string>& databases, const DeviceInfo& device);

  std::optional<KernelConfig> of(const Problem& problem) const;

 private:
  std::unordered_map<Problem, KernelConfig> configs_;
};

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Legs of a sweep, read back from what `mla-tune sweep --csv` wrote.
#pragma once

#include <string>
#include <vector>

#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/problem.h"
#include "tuner/stats.h"

namespace mla::tools {

struct SweptLever {
  std::string device;  // swept_device_text() of where it was measured
  std::string table;   // "levers" or "dose"
  Problem problem;
  std::string leg;  // "baseline", "partial_wait", ...
  KernelConfig config;
  double time_us = 0;     // 0: ratios only, or not measured
  tuner::Quartiles gain;  // over the baseline, in paired rounds
  int64_t rounds = 0;
  std::string verdict;
};

// "H200 (sm_90, 132 CU, 1 XCD)", as a recording's reader finds name, arch and sizes: the first line
// of what a sweep writes.
std::string swept_device_text(const DeviceInfo& device);

// Throws Error(kUsage) naming file and line for text that no sweep wrote.
std::vector<SweptLever> read_swept_levers(const std::string& text, const std::string& file_name);

}  // namespace mla::tools

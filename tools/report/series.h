// SPDX-License-Identifier: MIT
// The stored rounds of one shape, turned into one series of samples a configuration.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/record.h"

namespace mla::tools {

struct Series {
  std::vector<double> times_us;  // in the order of measuring
  std::vector<double> gains;     // reference / this - 1 of the rounds that hold the reference
};
using SeriesByConfig = std::map<KernelConfig, Series>;

// What the winner was compared with: the default, or the drained baseline.
KernelConfig reference_config(const std::vector<db::RoundRecord>& rounds,
                              const db::WinnerRecord& winner);

// Time of the reference in this round; the placebo is no reference.
std::optional<double> reference_time(const db::RoundRecord& round, const KernelConfig& reference);

// The samples that have a time, the placebo's among those of its configuration.
SeriesByConfig collect_series(const std::vector<db::RoundRecord>& rounds,
                              const KernelConfig& reference);

// A median of fewer samples than this is too often the luck of one of them.
inline constexpr size_t kEnoughSamples = 3;

}  // namespace mla::tools

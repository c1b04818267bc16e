// SPDX-License-Identifier: MIT
#include "kernels/space_parts.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace mla {

std::vector<int32_t> one_to(int32_t last) {
  std::vector<int32_t> values(static_cast<size_t>(last));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

std::vector<int32_t> split_search(int32_t compute_units) {
  std::vector<int32_t> values = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64};
  for (const int32_t more : {80, 96, 128, 160, 192, 256, 320}) {
    if (more <= 2 * compute_units) values.push_back(more);
  }
  if (compute_units > 1 && compute_units <= kMaxSplits) values.push_back(compute_units);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Constraint split_major_batch() {
  return {"split_major_batch",
          "split-major order needs batch > 1",
          [](const Problem& problem, const KernelConfig& config) {
            return config.order != Order::kSplitMajor || problem.batch > 1;
          }};
}

Constraint split_major_xcds(int32_t xcds) {
  return {
      "split_major_xcds",
      "split-major order needs splits to be a multiple of the " + std::to_string(xcds) + " XCDs",
      [xcds](const Problem&, const KernelConfig& config) {
        return config.order != Order::kSplitMajor || config.splits % std::max(1, xcds) == 0;
      }};
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// What the tests of decode kernels share, whatever runs them: problems, outputs, and choices among
// the values of parameters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/partition.h"
#include "kernels/reference.h"
#include "kernels/workload.h"

namespace mla::test {

struct Output {
  std::vector<uint16_t> out;
  std::vector<float> lse;
  bool operator==(const Output& other) const = default;
};

inline std::shared_ptr<const Workload> make_workload(Problem problem,
                                                     const std::vector<int64_t>& lengths,
                                                     WorkloadOptions options = {}) {
  int64_t total = 0, longest = 0;
  for (const int64_t length : lengths) {
    total += length;
    longest = std::max(longest, length);
  }
  problem.batch = static_cast<int32_t>(lengths.size());
  const int64_t mean = ceil_div(total, problem.batch);
  problem.seq_len = std::max<int64_t>(1, mean);
  problem.imbalance = imbalance_class(std::max<int64_t>(longest, 1), problem.seq_len);
  options.lengths = lengths;
  return std::make_shared<const Workload>(problem, options);
}

inline Outcome check(const std::vector<ReferenceRow>& rows,
                     const Workload& workload,
                     const Output& output) {
  return check_against_reference(rows,
                                 workload.problem().nhead,
                                 output.out.data(),
                                 output.lse.data(),
                                 tolerance(workload.problem().kv_dtype));
}

// Indices into the values of some parameters.
using Choice = std::vector<size_t>;

inline std::vector<Choice> all_choices(const std::vector<size_t>& sizes) {
  std::vector<Choice> choices = {{}};
  for (const size_t size : sizes) {
    std::vector<Choice> longer;
    for (const Choice& choice : choices) {
      for (size_t value = 0; value < size; ++value) {
        longer.push_back(choice);
        longer.back().push_back(value);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

// A seeded subset in which every pair of values of every two parameters occurs.
inline std::vector<Choice> pairwise_choices(const std::vector<size_t>& sizes, uint32_t seed) {
  std::vector<Choice> choices = all_choices(sizes);
  std::shuffle(choices.begin(), choices.end(), std::mt19937(seed));
  std::set<std::tuple<size_t, size_t, size_t, size_t>> seen;
  std::vector<Choice> sample;
  for (const Choice& choice : choices) {
    const size_t before = seen.size();
    for (size_t a = 0; a < choice.size(); ++a) {
      for (size_t b = a + 1; b < choice.size(); ++b) seen.insert({a, choice[a], b, choice[b]});
    }
    if (seen.size() > before) sample.push_back(choice);
  }
  return sample;
}

inline const std::vector<int32_t> kPageSizes = {1, 16, 64};

}  // namespace mla::test

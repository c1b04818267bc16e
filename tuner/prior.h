// SPDX-License-Identifier: MIT
// What a configuration should take by physics: a fitted sum of a few costs, of which the split
// count decides most. Orders what a search measures and flags a time that it calls impossible;
// never answers in place of a measurement.
//
//   time = launch + rows of the longest workgroup, wave after wave + start and end of a workgroup a
//          wave + bytes read + partial results written and read + the merge's chain of partials
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/space.h"

namespace mla::tuner {

struct Timing {
  Problem problem;
  KernelConfig config;
  double time_us = 0;
};

class Prior {
 public:
  static constexpr size_t kTerms = 6;

  // Of the fastest time of each (problem, split count, schedule, group rows), so that what the
  // model lacks of the other knobs counts at its best. Nothing where those are too few to fit.
  static std::optional<Prior> fit(const Space& space, const std::vector<Timing>& timings);

  double time_us(const Space& space, const Problem& problem, const KernelConfig& config) const;

  // Faster than the model by far more than it is off elsewhere: a wrong clock or a kernel that
  // leaves work out are likelier.
  bool calls_impossible(const Space& space, const Timing& timing) const;

  // Of measured / model, as a standard deviation of the logarithm; robust against outliers.
  double spread() const { return spread_; }

 private:
  double furthest() const;  // from the model, as a logarithm, of what is still believed

  std::array<double, kTerms> cost_us_{};  // per unit of each term
  double spread_ = 0;
};

}  // namespace mla::tuner

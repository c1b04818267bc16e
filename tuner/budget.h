// SPDX-License-Identifier: MIT
// A wall-time budget shared by shapes. What a shape leaves over goes to those after it. Searches
// that end by themselves take the shapes in their order instead: a share of a large grid may be
// shorter than the making of a shape's inputs.
#pragma once

#include <vector>

#include "kernels/problem.h"
#include "tuner/rounds.h"

namespace mla::tuner {

class Budget {
 public:
  // budget_s: of the whole program, a small share of which is kept back for its start and end; 0:
  // no limit. `reserved_share` of it is left for what follows the shapes.
  // in_order: the first shapes may use it up.
  Budget(double budget_s,
         const std::vector<Problem>& problems,
         double reserved_share = 0,
         bool in_order = false);

  // More shapes behind the others. Of the budget that is left the same share is reserved.
  void add(const std::vector<Problem>& problems);

  // End of the time that shape `index` may use, given that the shapes before it are done.
  Clock::time_point deadline(size_t index) const;
  // End of the whole budget.
  Clock::time_point end() const;
  bool limited() const { return budget_s_ > 0; }
  double elapsed_s() const;
  // Work of the shapes after `index` as a multiple of that of `index`.
  double work_after(size_t index) const;

 private:
  void weigh(const std::vector<Problem>& problems);

  double budget_s_;  // without the share kept back
  double reserved_share_;
  double shapes_s_;  // of budget_s_, for the shapes
  bool in_order_;
  Clock::time_point start_;
  std::vector<double> flops_;
  std::vector<double> weights_;
};

}  // namespace mla::tuner

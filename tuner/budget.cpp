// SPDX-License-Identifier: MIT
#include "tuner/budget.h"

#include <numeric>

namespace mla::tuner {
namespace {

// The rest is for what surrounds the samples: starting the process and its worker, the sample that
// runs when a deadline passes, the last commit, the result.
constexpr double kUsableShare = 0.98;

}  // namespace

Budget::Budget(double budget_s,
               const std::vector<Problem>& problems,
               double reserved_share,
               bool in_order)
    : budget_s_(kUsableShare * budget_s),
      reserved_share_(reserved_share),
      shapes_s_(budget_s_ * (1 - reserved_share)),
      in_order_(in_order),
      start_(Clock::now()) {
  weigh(problems);
}

void Budget::add(const std::vector<Problem>& problems) {
  const double used_s = elapsed_s();
  shapes_s_ = used_s + (budget_s_ - used_s) * (1 - reserved_share_);
  weigh(problems);
}

// Half by arithmetic and half evenly, since a sample also pays costs that do not grow with the
// shape (a cache flush, a launch, a check).
void Budget::weigh(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) flops_.push_back(decode_flops(problem));
  const double all = std::accumulate(flops_.begin(), flops_.end(), 0.0);
  weights_.clear();
  for (const double flops : flops_)
    weights_.push_back(0.5 / static_cast<double>(flops_.size()) +
                       (all > 0 ? 0.5 * flops / all : 0));
}

double Budget::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

double Budget::work_after(size_t index) const {
  const auto begin = weights_.begin() + static_cast<std::ptrdiff_t>(index);
  return std::accumulate(begin, weights_.end(), 0.0) / *begin - 1;
}

Clock::time_point Budget::deadline(size_t index) const {
  if (!limited()) return Clock::time_point::max();
  if (in_order_) return start_ + to_duration(shapes_s_);
  const double left_s = shapes_s_ - elapsed_s();
  return Clock::now() + to_duration(left_s / (1 + work_after(index)));
}

Clock::time_point Budget::end() const {
  return limited() ? start_ + to_duration(budget_s_) : Clock::time_point::max();
}

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// What follows the tuning of a session's shapes: their winners at each other's shapes, the plans
// for unknown lengths, and the shapes that the grid still lacks. Holds the points and the losses.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <vector>

#include "tuner/crossing.h"
#include "tuner/robust.h"
#include "tuner/session.h"

namespace mla::tuner {

class CrossStage {
 public:
  // Called before the first and after every round: the shape at hand, and all shapes' counts.
  using OnRound = std::function<void(const Problem&, const CrossingCounts&, bool begin)>;

  // `store` may be null.
  CrossStage(SourceMeter& meter, db::Store* store, const SessionOptions& options);

  // A shape of this session with its answer.
  void add(const db::WinnerRecord& winner, int64_t tuning_id);
  // Shapes of other sessions on this device, in this environment, complete the grid.
  void add_stored();

  // Measures what is not known yet, until `deadline`.
  void measure(Clock::time_point deadline, const OnRound& on_round, const std::atomic<bool>& stop);
  const CrossingCounts& counts() const { return counts_; }

  // Shapes between winners that lose to each other (grid_points.h), riskiest first.
  std::vector<Problem> disagreements();

  std::vector<RobustPlan> choose_plans();

 private:
  // What was measured at a point, here or before.
  std::vector<db::LossRecord>& losses_at(size_t point);

  SourceMeter& meter_;
  db::Store* store_;
  const SessionOptions& options_;
  std::vector<CrossPoint> points_;
  std::vector<LengthGroup> groups_;
  std::map<size_t, std::vector<db::LossRecord>> losses_;  // by point
  CrossingCounts counts_;
};

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// A tuning session: shapes in, winners out. Deterministic given the seed and the measured times, so
// an interrupted session is continued by running it again over the rounds that are already stored.
// Prints nothing; events go to an observer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/record.h"
#include "db/store.h"
#include "tuner/source.h"

namespace mla::tuner {

struct LengthShare {
  int64_t seq_len = 0;
  double share = 1;  // weight in a mean; the worst case asks all lengths alike
};

// Without a budget and a limit of configurations every one of the listing is measured at least
// once.
struct SessionOptions {
  uint64_t seed = 1;
  double budget_s = 0;               // wall time for all shapes together; 0: no limit
  int final_rounds = 60;             // at most; the guard's looks end it earlier
  int64_t max_configs = 0;           // 0: the whole space
  std::string baseline = "default";  // or "drained": what a finalist has to beat
  bool retune = false;               // measure again what is finished
  // Restricts the search to these configurations (beside the default); empty: the space's listing.
  std::vector<KernelConfig> only;
  // What a configuration is guessed to take where nothing is measured yet: the search begins with
  // the shortest. Empty, or nothing for a configuration: no guess, by the seed's order.
  std::function<std::optional<double>(const Problem&, const KernelConfig&)> estimate_us;
  // For every batch that was tuned at all of these also a plan for unknown lengths; empty: none.
  std::vector<LengthShare> lengths;
  // Begins at winners of shapes nearby instead of a sample of the space (seeds.h).
  bool small_search = false;
  // Tunes further shapes where two neighbouring winners lose to each other (grid_points.h).
  bool refine = false;
  // False leaves out what needs the winners of several shapes: crossings, plans and refinement.
  bool cross = true;
  // True: where the device is lost, the result is what was done before; false: Error(kDevice).
  bool outlive_device = false;
};

// The options as a session follows them: no small search with `only`, nor of a recording, which has
// times of a few configurations.
SessionOptions usable_at(const CandidateSource& source, SessionOptions options);

// The share of the budget for winners at neighbouring shapes: at most eight of those and thirty
// rounds a shape, beside searches and finals of several hundred samples. More beside small
// searches, and with the winner of every length at all others for a plan.
double crossing_share(const SessionOptions& options);

// Throws Error(kUsage) for a baseline that is none, or rounds that no guard can decide by.
void require_usable(const SessionOptions& options);

// Every option that changes what is measured, as canonical text (TuningKey::protocol); of options
// that a session follows.
std::string protocol_text(const SessionOptions& options);

struct ProgressEvent {
  enum class Kind {
    kShapeBegin,
    kAdmitFailed,
    kRound,
    kNewBest,
    kFinalRound,
    kShapeEnd,
    kShapeSkipped,
    kCrossBegin,  // done, total: as for kCrossRound
    kCrossRound   // done, total: winners at neighbouring shapes
  };
  Kind kind{};
  size_t shape = 0, shapes = 0;  // index and count
  Problem problem;
  int64_t done = 0, total = 0;  // samples of this shape: so far and at most
  int64_t failed = 0;
  KernelConfig config;           // new best, or the one that failed
  Outcome outcome;               // kAdmitFailed
  double best_us = 0, gain = 0;  // best so far, over the default
  double elapsed_s = 0;
  double eta_low_s = 0, eta_high_s = 0;
  const db::WinnerRecord* winner = nullptr;  // kShapeEnd, kShapeSkipped
  int64_t resumed_rounds = 0;                // kShapeBegin: rounds taken from the database
};

enum class ShapeStatus { kDone, kAlreadyDone, kOutOfBudget, kStopped, kFailed };

struct ShapeResult {
  Problem problem;
  ShapeStatus status{};
  db::WinnerRecord winner;  // kDone, kAlreadyDone
  std::string text;         // why not, else empty

  bool answered() const {
    return status == ShapeStatus::kDone || status == ShapeStatus::kAlreadyDone;
  }
};

// Winners measured at the shapes around theirs (crossing.h), each counted once a shape.
struct CrossingCounts {
  int64_t planned = 0;  // that were not known before
  int64_t held = 0;     // lost to the default by no more than the bound of a selection
  int64_t lost = 0;     // lost by more, or could not be measured
};

// Shapes that the session added where winners lose to each other.
struct RefineCounts {
  int64_t tuned = 0;
  int64_t left = 0;  // without an answer: left out by the budget or a stop, or failed
};

// Wall time inside the source: launches, cache flushes, checks, and the exchange with a worker.
struct DeviceTime {
  double select_s = 0;  // inputs, pool, reference
  double admit_s = 0;   // checked launches, warm-up
  double sample_s = 0;
  double total_s() const { return select_s + admit_s + sample_s; }
  void add(const DeviceTime& other) {
    select_s += other.select_s;
    admit_s += other.admit_s;
    sample_s += other.sample_s;
  }
};

// A plan for a batch of unknown length (robust.h), over the lengths of the options.
struct RobustPlan {
  db::WinnerRecord winner;  // of a problem of seq_len 0
  double worst_regret = 0;  // over the best winner of each length
};

struct SessionResult {
  std::vector<ShapeResult>
      shapes;  // in the order asked for, then those that were added and answered
  std::vector<RobustPlan> robust;
  CrossingCounts crossing;  // planned - held - lost were left out by the budget or a stop
  RefineCounts refine;
  int64_t samples_measured = 0;
  int64_t samples_reused = 0;
  double elapsed_s = 0;
  DeviceTime device;        // the rest of elapsed_s is search and store
  std::string lost_device;  // why it was left, with outlive_device; else empty
};

// `store` may be null (simulations): nothing is kept then. `stop` is polled between samples; a stop
// ends the session after the round in progress is dropped.
SessionResult run_session(CandidateSource& source,
                          db::Store* store,
                          const db::RunInfo& run,
                          const std::vector<Problem>& problems,
                          const SessionOptions& options,
                          const std::function<void(const ProgressEvent&)>& observer,
                          const std::atomic<bool>& stop);

}  // namespace mla::tuner

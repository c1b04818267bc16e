// SPDX-License-Identifier: MIT
// Tunes one shape: admit the baselines, probe them, search by successive halving of a population
// and of the neighbours of its best, semifinal, final. Every decision follows from the seed, the
// options and the rounds, so that a continued tuning ends like an uninterrupted one; only what is
// measured *next* also depends on the time that is left.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tuner/budget.h"
#include "tuner/final.h"
#include "tuner/prior.h"
#include "tuner/rounds.h"
#include "tuner/search.h"
#include "tuner/session.h"

namespace mla::tuner {

// Rung 0 holds the baselines alone: it shows what a sample costs before a population is chosen.
inline constexpr int32_t kProbeRung = 0;
inline constexpr int32_t kFirstRung = 1;

struct ShapeLimits {
  Clock::time_point deadline = Clock::time_point::max();
  double work_after = 0;  // later shapes' work as a multiple of this one's, for the ETA
};

class ShapeTuning {
 public:
  using Emit = std::function<void(ProgressEvent*)>;

  // `seeds`: what a small search begins with. `emit` completes an event with what the session knows
  // and hands it on. `store` may be null.
  ShapeTuning(SourceMeter& meter,
              db::Store* store,
              int64_t tuning_id,
              const Problem& problem,
              const SessionOptions& options,
              const ShapeLimits& limits,
              std::vector<KernelConfig> seeds,
              Emit emit,
              const std::atomic<bool>& stop);

  // Saves everything but the winner.
  ShapeResult run();

  // Of what was measured in the search.
  std::vector<Timing> timings() const;

 private:
  // Thrown to leave a tuning before its verdict.
  struct Ended {
    ShapeStatus status;
    std::string text;
  };

  db::WinnerRecord tune();
  void admit_baselines();
  void probe();
  void plan_time();

  std::vector<KernelConfig> choose_population();
  // What ran in the first round of a rung in an earlier process; empty where none is stored.
  std::vector<KernelConfig> stored_population(db::Phase phase, int32_t rung) const;
  std::vector<KernelConfig> candidates();
  void order_by_estimate(std::vector<KernelConfig>* configs) const;
  // Candidates that may still be measured.
  size_t unvisited() const;
  size_t most_configs() const;
  std::vector<KernelConfig> admit_candidates(const std::vector<KernelConfig>& candidates);

  // Halves the population, then the neighbours of the best with it, until their best is known or
  // the time is over: a sample of a large space seldom holds the best, but often one near it.
  std::vector<Standing> search(std::vector<KernelConfig> live);
  // To a semifinal's size; counts the rungs.
  void halve(std::vector<KernelConfig>* live, int32_t* rung);
  // The nearest, of which some are unmeasured; in the order of visits.
  std::vector<KernelConfig> unmeasured_neighbours(const KernelConfig& center) const;
  // Of the best so far. False where nothing is added.
  bool add_neighbours(int32_t rung, std::vector<KernelConfig>* live);
  // Up to `count` rounds; those who fail or fall hopelessly behind leave `live`.
  std::vector<db::RoundRecord> run_rung(db::Phase phase,
                                        int32_t rung,
                                        int count,
                                        std::vector<KernelConfig>* live);
  void drop_losers(const std::vector<Standing>& standings, std::vector<KernelConfig>* live);

  db::WinnerRecord run_final(const std::vector<Standing>& standings);
  FinalPlan plan_final(const std::vector<Standing>& standings) const;
  // False where a leg failed: the next attempt goes without it.
  bool measure_final(const FinalPlan& plan, std::vector<db::RoundRecord>* rounds);
  void complete(db::WinnerRecord* winner) const;

  bool limited() const { return limits_.deadline != Clock::time_point::max(); }
  // Whether so many samples end before `deadline`, as far as the samples so far tell.
  bool fits(size_t samples, Clock::time_point deadline) const;
  void check_stop() const;
  std::vector<Baseline> usable_baselines() const;
  // The first baseline that can be measured; ends the tuning where there is none.
  Baseline reference() const;
  std::vector<Leg> legs_of(const std::vector<KernelConfig>& live) const;

  void count_round(const db::RoundRecord& round);
  void report_round(ProgressEvent::Kind kind, const std::vector<Standing>& standings);
  ProgressEvent event(ProgressEvent::Kind kind) const;

  SourceMeter& meter_;
  const Problem problem_;
  const SessionOptions& options_;
  const ShapeLimits limits_;
  const std::vector<KernelConfig> seeds_;
  const Emit emit_;
  const std::atomic<bool>& stop_;
  const int final_rounds_;
  Admission admission_;
  RoundBook book_;

  std::vector<Baseline> baselines_;  // in order of preference, distinct
  KernelConfig default_config_, drained_config_;
  std::vector<db::RoundRecord> search_rounds_;
  std::unordered_set<KernelConfig> eligible_;  // may win: a baseline outside the search may not
  std::unordered_set<KernelConfig> measured_;
  std::vector<KernelConfig> visits_;  // every candidate, in the order in which time goes into them
  size_t visited_ = 0;                // of them
  size_t population_ = 0;             // the first of these
  Clock::time_point search_deadline_ = Clock::time_point::max();
  Clock::time_point final_start_ =
      Clock::time_point::max();  // latest that leaves time for a verdict
  int64_t pruned_ = 0;
  int64_t done_ = 0, total_ = 0;  // samples
  Standing best_;
};

}  // namespace mla::tuner

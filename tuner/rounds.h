// SPDX-License-Identifier: MIT
// The rounds of one tuning, whether they are measured now or were stored by a run that was
// interrupted. Search code asks for a round by its name and cannot tell the difference.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tuner/admission.h"

namespace mla::tuner {

using Clock = std::chrono::steady_clock;

inline Clock::duration to_duration(double time_s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_s));
}

inline constexpr const char* kCandidateRole = "candidate";
inline constexpr const char* kDefaultRole = "default";
inline constexpr const char* kDrainedRole = "drained";
inline constexpr const char* kPlaceboRole = "placebo";

struct Leg {
  KernelConfig config;
  std::string role;
};

struct RoundName {
  db::Phase phase = db::Phase::kSearch;
  int32_t rung = 0;
  int32_t round = 0;
  int32_t attempt = 0;  // finals and crossings only
};

enum class RoundEnd { kComplete, kStopped, kOutOfTime };

class RoundBook {
 public:
  RoundBook(SourceMeter& meter,
            Admission& admission,
            db::Store* store,
            int64_t tuning_id,
            const std::atomic<bool>& stop);

  // The round under this name: the stored one, else every leg is measured once in rotated order and
  // the round committed. A stop, or time past `deadline`, between two samples drops the round.
  RoundEnd obtain(const RoundName& name,
                  const std::vector<Leg>& legs,
                  Clock::time_point deadline,
                  db::RoundRecord* round);

  bool stored(const RoundName& name) const;
  // Whether a later rung or phase is stored: then an earlier run has closed this rung, and to
  // measure more of it would change what followed.
  bool closed(const RoundName& name) const;
  // The stored round in which the population of a rung was fixed, or null.
  const db::RoundRecord* first_of(db::Phase phase, int32_t rung) const;
  // Of a final or a crossing, which are never completed across processes.
  int32_t next_attempt(db::Phase phase) const;
  int64_t stored_rounds() const { return static_cast<int64_t>(rounds_.size()); }

  // Wall time of one sample in this process, everything included; 0 before the first.
  double sample_s() const;

 private:
  using Key = std::tuple<db::Phase, int32_t, int32_t>;
  RoundEnd measure(const RoundName& name,
                   const std::vector<Leg>& legs,
                   Clock::time_point deadline,
                   db::RoundRecord* round);
  void note_attempt(db::Phase phase, int32_t attempt);
  void note_failures(const db::RoundRecord& round);

  SourceMeter& meter_;
  Admission& admission_;
  db::Store* store_;
  int64_t tuning_id_;
  const std::atomic<bool>& stop_;
  std::map<Key, db::RoundRecord> rounds_;  // search and semifinal
  std::map<KernelConfig, std::string> failure_texts_;
  std::map<db::Phase, int32_t> attempts_;  // finals and crossings begun, here or before
  double measured_s_ = 0;
  int64_t measured_ = 0;
};

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// Which configurations of one tuning may be measured. Asks the source once per process, keeps what
// failed in the store, honours what the store already holds, and quarantines a candidate at its
// second crash.
#pragma once

#include <functional>
#include <unordered_map>

#include "db/store.h"
#include "tuner/session.h"
#include "tuner/source.h"

namespace mla::tuner {

// Calls of one session to the source, counted and timed.
struct SourceMeter {
  CandidateSource& source;
  int64_t samples_measured = 0;
  int64_t samples_reused = 0;
  DeviceTime device = {};

  Outcome select(const Problem& problem, uint64_t seed);
  Outcome admit(const KernelConfig& config, bool first);
  // A time that is not finite and positive becomes kNonFinite.
  TimedRun sample(const KernelConfig& config, const SampleId& id);
};

class Admission {
 public:
  using FailureObserver = std::function<void(const KernelConfig&, const Outcome&)>;

  // `store` may be null.
  Admission(SourceMeter& meter, db::Store* store, int64_t tuning_id, FailureObserver on_failure);

  // The reference that outputs are compared with. Asked of the source in every process.
  Outcome admit_first(const KernelConfig& config);
  // A result of the store is taken where there is one.
  Outcome admit(const KernelConfig& config);

  // A sample that failed, or a candidate dropped for being slow: kept, never measured again.
  void fail(const KernelConfig& config, const Outcome& outcome);

  // Failed in admission or in a sample; slow ones do not count.
  bool failed(const KernelConfig& config) const;
  // Failed, or behind by so much that no more time goes into it.
  bool dropped(const KernelConfig& config) const;
  int64_t failures() const { return failures_; }

 private:
  struct Entry {
    Outcome outcome;
    int32_t crashes = 0;
    bool asked = false;  // the source has answered in this process
  };
  Outcome ask(const KernelConfig& config, bool first);
  void put(const KernelConfig& config, const Entry& entry);
  void keep(const KernelConfig& config, const Entry& entry);

  SourceMeter& meter_;
  db::Store* store_;
  int64_t tuning_id_;
  FailureObserver on_failure_;
  std::unordered_map<KernelConfig, Entry> entries_;
  int64_t failures_ = 0;  // entries that failed() holds for
};

}  // namespace mla::tuner

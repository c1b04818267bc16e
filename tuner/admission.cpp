// SPDX-License-Identifier: MIT
#include "tuner/admission.h"

#include <chrono>
#include <cmath>

namespace mla::tuner {
namespace {

constexpr int32_t kCrashesToQuarantine = 2;

bool crashed(OutcomeKind kind) {
  return kind == OutcomeKind::kFault || kind == OutcomeKind::kHang;
}

// A slow candidate has times and has not failed.
bool counts(const Outcome& outcome) {
  return !outcome.ok() && outcome.kind != OutcomeKind::kSlow;
}

// Adds the time of one call to a sum.
class CallTimer {
 public:
  explicit CallTimer(double* sum_s) : sum_s_(sum_s), start_(std::chrono::steady_clock::now()) {}
  ~CallTimer() {
    *sum_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

 private:
  double* sum_s_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

Outcome SourceMeter::select(const Problem& problem, uint64_t seed) {
  const CallTimer timer(&device.select_s);
  return source.select(problem, seed);
}

Outcome SourceMeter::admit(const KernelConfig& config, bool first) {
  const CallTimer timer(&device.admit_s);
  return source.admit(config, first);
}

TimedRun SourceMeter::sample(const KernelConfig& config, const SampleId& id) {
  const CallTimer timer(&device.sample_s);
  TimedRun sample = source.sample(config, id);
  ++samples_measured;
  if (sample.outcome.ok() && !(std::isfinite(sample.time_us) && sample.time_us > 0))
    sample.outcome = {OutcomeKind::kNonFinite,
                      "measured a time of " + std::to_string(sample.time_us) + " us"};
  if (!sample.outcome.ok()) sample.time_us = 0;
  return sample;
}

Admission::Admission(SourceMeter& meter,
                     db::Store* store,
                     int64_t tuning_id,
                     FailureObserver on_failure)
    : meter_(meter), store_(store), tuning_id_(tuning_id), on_failure_(std::move(on_failure)) {
  if (store_ == nullptr) return;
  for (const db::OutcomeRecord& record : store_->load_outcomes(tuning_id_))
    put(record.config, {record.outcome, record.crashes, false});
}

Outcome Admission::admit_first(const KernelConfig& config) {
  return ask(config, true);
}

Outcome Admission::admit(const KernelConfig& config) {
  const auto found = entries_.find(config);
  if (found != entries_.end()) {
    const Entry& entry = found->second;
    // Of the store's results those are asked again that say nothing against a measurement.
    const bool retry = crashed(entry.outcome.kind) || entry.outcome.kind == OutcomeKind::kSlow;
    if (entry.asked || !retry) return entry.outcome;
  }
  return ask(config, false);
}

Outcome Admission::ask(const KernelConfig& config, bool first) {
  Entry entry = entries_[config];
  for (;;) {
    entry.outcome = meter_.admit(config, first);
    entry.asked = true;
    if (!crashed(entry.outcome.kind)) break;
    if (++entry.crashes >= kCrashesToQuarantine) {
      entry.outcome = {
          OutcomeKind::kQuarantined,
          "crashed " + std::to_string(entry.crashes) + " times, last: " + entry.outcome.text};
      break;
    }
    // Before the next try, so that a crash that takes this process along is counted.
    keep(config, entry);
  }
  put(config, entry);
  if (!entry.outcome.ok()) {
    keep(config, entry);
    on_failure_(config, entry.outcome);
  }
  return entry.outcome;
}

void Admission::fail(const KernelConfig& config, const Outcome& outcome) {
  Entry entry = entries_[config];
  const bool from_store = !entry.outcome.ok() && !entry.asked;
  if (from_store) return;
  entry.outcome = outcome;
  entry.asked = true;
  if (crashed(outcome.kind) && ++entry.crashes >= kCrashesToQuarantine)
    entry.outcome = {OutcomeKind::kQuarantined, "crashed again: " + outcome.text};
  put(config, entry);
  keep(config, entry);
  if (counts(entry.outcome)) on_failure_(config, entry.outcome);
}

bool Admission::failed(const KernelConfig& config) const {
  const auto found = entries_.find(config);
  return found != entries_.end() && counts(found->second.outcome);
}

bool Admission::dropped(const KernelConfig& config) const {
  const auto found = entries_.find(config);
  return found != entries_.end() && !found->second.outcome.ok();
}

void Admission::put(const KernelConfig& config, const Entry& entry) {
  Entry& held = entries_[config];
  failures_ += int64_t{counts(entry.outcome)} - int64_t{counts(held.outcome)};
  held = entry;
}

void Admission::keep(const KernelConfig& config, const Entry& entry) {
  if (store_ != nullptr) store_->save_outcome(tuning_id_, {config, entry.outcome, entry.crashes});
}

}  // namespace mla::tuner

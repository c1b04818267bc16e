// SPDX-License-Identifier: MIT
#include "tuner/rounds.h"

#include <algorithm>

#include "tuner/search.h"

namespace mla::tuner {
namespace {

// Whether every attempt of the phase starts anew.
bool has_attempts(db::Phase phase) {
  return phase == db::Phase::kFinal || phase == db::Phase::kCross;
}

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

RoundBook::RoundBook(SourceMeter& meter,
                     Admission& admission,
                     db::Store* store,
                     int64_t tuning_id,
                     const std::atomic<bool>& stop)
    : meter_(meter), admission_(admission), store_(store), tuning_id_(tuning_id), stop_(stop) {
  if (store_ == nullptr) return;
  for (db::RoundRecord& round : store_->load_rounds(tuning_id_)) {
    if (has_attempts(round.phase)) {
      note_attempt(round.phase, round.attempt);
      continue;
    }
    std::sort(round.samples.begin(), round.samples.end(), [](const auto& a, const auto& b) {
      return a.position < b.position;
    });
    rounds_.emplace(Key{round.phase, round.rung, round.round}, std::move(round));
  }
}

bool RoundBook::stored(const RoundName& name) const {
  return !has_attempts(name.phase) && rounds_.count({name.phase, name.rung, name.round}) != 0;
}

bool RoundBook::closed(const RoundName& name) const {
  if (next_attempt(db::Phase::kFinal) > 0) return true;
  return !rounds_.empty() && rounds_.rbegin()->first > Key{name.phase, name.rung, INT32_MAX};
}

const db::RoundRecord* RoundBook::first_of(db::Phase phase, int32_t rung) const {
  const auto found = rounds_.find({phase, rung, 0});
  return found == rounds_.end() ? nullptr : &found->second;
}

RoundEnd RoundBook::obtain(const RoundName& name,
                           const std::vector<Leg>& legs,
                           Clock::time_point deadline,
                           db::RoundRecord* round) {
  if (stored(name)) {
    *round = rounds_.at({name.phase, name.rung, name.round});
    meter_.samples_reused += static_cast<int64_t>(round->samples.size());
  } else {
    const RoundEnd end = measure(name, legs, deadline, round);
    if (end != RoundEnd::kComplete) return end;
    if (store_ != nullptr) store_->save_round(tuning_id_, *round);
    if (has_attempts(name.phase)) note_attempt(name.phase, name.attempt);
  }
  // After the round is stored: a run that dies in between finds the failure in the round again.
  note_failures(*round);
  return RoundEnd::kComplete;
}

RoundEnd RoundBook::measure(const RoundName& name,
                            const std::vector<Leg>& legs,
                            Clock::time_point deadline,
                            db::RoundRecord* round) {
  *round = {name.phase, name.rung, name.round, name.attempt, {}};
  for (size_t position = 0; position < legs.size(); ++position) {
    if (stop_.load(std::memory_order_relaxed)) return RoundEnd::kStopped;
    const auto begin = Clock::now();
    if (begin >= deadline) return RoundEnd::kOutOfTime;
    const Leg& leg = legs[leg_at(position, name.round, legs.size())];
    const auto place = static_cast<int32_t>(position);
    TimedRun sample{admission_.admit(leg.config), 0};
    if (sample.outcome.ok())
      sample = meter_.sample(leg.config, {name.phase, name.rung, name.round, place});
    if (!sample.outcome.ok()) failure_texts_[leg.config] = sample.outcome.text;
    round->samples.push_back({leg.config, place, leg.role, sample.time_us, sample.outcome.kind});
    measured_s_ += seconds(Clock::now() - begin);
    ++measured_;
  }
  return stop_.load(std::memory_order_relaxed) ? RoundEnd::kStopped : RoundEnd::kComplete;
}

void RoundBook::note_failures(const db::RoundRecord& round) {
  for (const db::SampleRecord& sample : round.samples) {
    if (sample.outcome == OutcomeKind::kOk) continue;
    admission_.fail(sample.config, {sample.outcome, failure_texts_[sample.config]});
  }
}

int32_t RoundBook::next_attempt(db::Phase phase) const {
  const auto found = attempts_.find(phase);
  return found == attempts_.end() ? 0 : found->second;
}

void RoundBook::note_attempt(db::Phase phase, int32_t attempt) {
  attempts_[phase] = std::max(next_attempt(phase), attempt + 1);
}

double RoundBook::sample_s() const {
  return measured_ == 0 ? 0 : measured_s_ / static_cast<double>(measured_);
}

}  // namespace mla::tuner

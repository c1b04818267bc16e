// SPDX-License-Identifier: MIT
#include "tools/compare_databases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/environment_fields.h"
#include "tools/matched_shapes.h"
#include "tuner/guard.h"
#include "tuner/rounds.h"
#include "tuner/stats.h"

namespace mla::tools {
namespace {

struct Side {
  const db::Store& store;
  const db::TuningSummary& summary;
};

bool answered(const db::WinnerRecord& winner) {
  return winner.verdict != db::Verdict::kFailed && winner.expected_us > 0;
}

bool share_a_default(const db::TuningSummary& before, const db::TuningSummary& after) {
  const db::WinnerRecord& a = before.winner;
  const db::WinnerRecord& b = after.winner;
  return a.rounds > 0 && b.rounds > 0 && a.reference == b.reference &&
         a.default_config == b.default_config && before.environment == after.environment;
}

// Of the answer in its final rounds; all zero where none are stored.
tuner::Quartiles answer_times_us(const Side& side) {
  std::vector<double> times_us;
  for (const db::RoundRecord& round : side.store.load_rounds(side.summary.tuning_id)) {
    if (round.phase != db::Phase::kFinal) continue;
    for (const db::SampleRecord& sample : round.samples) {
      if (sample.outcome == OutcomeKind::kOk && sample.config == side.summary.winner.config &&
          sample.role != tuner::kPlaceboRole) {
        times_us.push_back(sample.time_us);
      }
    }
  }
  return tuner::quartiles(times_us);
}

void set_interval(ShapeChange* change, double median, double low, double high) {
  change->change = median - 1;
  change->low = low - 1;
  change->high = high - 1;
}

void judge_gains(const db::WinnerRecord& before, const db::WinnerRecord& after, ShapeChange* out) {
  out->evidence = ChangeEvidence::kPaired;
  set_interval(out,
               (1 + after.gain) / (1 + before.gain),
               (1 + after.gain_low) / (1 + before.gain_high),
               (1 + after.gain_high) / (1 + before.gain_low));
}

void judge_times(const Side& before, const Side& after, ShapeChange* out) {
  const tuner::Quartiles a = answer_times_us(before);
  const tuner::Quartiles b = answer_times_us(after);
  const double ratio = before.summary.winner.expected_us / after.summary.winner.expected_us;
  if (a.low > 0 && b.low > 0) {
    out->evidence = ChangeEvidence::kTimes;
    set_interval(out, ratio, a.low / b.high, a.high / b.low);
  } else {
    out->evidence = ChangeEvidence::kMedians;
    set_interval(out, ratio, ratio, ratio);
  }
}

ChangeVerdict verdict_of(const ShapeChange& change) {
  if (std::abs(change.change) <= change.margin) return ChangeVerdict::kSame;
  if (change.evidence == ChangeEvidence::kMedians) return ChangeVerdict::kAmbiguous;
  if (change.low > 0) return ChangeVerdict::kFast;
  return change.high < 0 ? ChangeVerdict::kSlow : ChangeVerdict::kAmbiguous;
}

std::vector<std::string> environment_changes(const db::Environment& before,
                                             const db::Environment& after) {
  std::vector<std::string> texts;
  for (const EnvironmentField& field : kEnvironmentFields) {
    const std::string &old = before.*field.member, &fresh = after.*field.member;
    if (old != fresh) texts.push_back(fmt::format("{}: {} -> {}", field.title, old, fresh));
  }
  return texts;
}

void judge(const Side& before, const Side& after, ShapeChange* out) {
  const db::WinnerRecord& a = before.summary.winner;
  const db::WinnerRecord& b = after.summary.winner;
  out->environment = environment_changes(before.summary.environment, after.summary.environment);
  if (before.summary.device.relative_times != after.summary.device.relative_times) {
    out->reason = "one side has ratios of a recording, the other times";
    return;
  }
  if (!answered(a) || !answered(b)) {
    out->reason = answered(a) ? "not measured after" : "not measured before";
    return;
  }
  if (share_a_default(before.summary, after.summary)) {
    judge_gains(a, b, out);
  } else {
    judge_times(before, after, out);
  }
  out->margin = std::max({tuner::kGuardMargin, a.placebo_noise, b.placebo_noise});
  out->verdict = verdict_of(*out);
}

ShapeChange change_of(const ShapePair& pair, const db::Store& before, const db::Store& after) {
  const db::TuningSummary& any = pair.after ? *pair.after : *pair.before;
  ShapeChange change;
  change.device_key = device_key(any.device);
  change.problem = any.winner.problem;
  change.relative_times = any.device.relative_times;
  if (pair.before) change.before = pair.before->winner;
  if (pair.after) change.after = pair.after->winner;
  if (pair.before && pair.after) {
    judge({before, *pair.before}, {after, *pair.after}, &change);
  } else {
    change.reason = pair.before ? "not tuned after" : "not tuned before";
  }
  return change;
}

}  // namespace

std::string_view name(ChangeEvidence evidence) {
  switch (evidence) {
    case ChangeEvidence::kPaired:
      return "paired";
    case ChangeEvidence::kTimes:
      return "times";
    case ChangeEvidence::kMedians:
      return "medians";
    case ChangeEvidence::kNone:
      break;
  }
  return "none";
}

std::string_view mark(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kSlow:
      return "SLOW";
    case ChangeVerdict::kAmbiguous:
      return "AMBG";
    case ChangeVerdict::kUnknown:
      return "????";
    case ChangeVerdict::kFast:
      return "FAST";
    case ChangeVerdict::kSame:
      return "SAME";
  }
  return "????";
}

std::string_view name(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::kSlow:
      return "slow";
    case ChangeVerdict::kAmbiguous:
      return "ambiguous";
    case ChangeVerdict::kUnknown:
      return "unknown";
    case ChangeVerdict::kFast:
      return "fast";
    case ChangeVerdict::kSame:
      return "same";
  }
  return "unknown";
}

DatabaseChanges compare_databases(const db::Store& before, const db::Store& after) {
  DatabaseChanges changes = {before.path(), after.path(), {}};
  for (const ShapePair& pair : matched_shapes(before, after)) {
    changes.shapes.push_back(change_of(pair, before, after));
  }
  std::stable_sort(
      changes.shapes.begin(), changes.shapes.end(), [](const ShapeChange& a, const ShapeChange& b) {
        return a.verdict < b.verdict;
      });
  return changes;
}

int64_t count(const DatabaseChanges& changes, ChangeVerdict verdict) {
  return std::count_if(changes.shapes.begin(), changes.shapes.end(), [&](const ShapeChange& shape) {
    return shape.verdict == verdict;
  });
}

}  // namespace mla::tools

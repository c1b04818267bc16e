// SPDX-License-Identifier: MIT
// What became of one candidate. A candidate that fails is a normal result and a database row, so
// this is a value and not an exception.
#pragma once

#include <string>
#include <string_view>

namespace mla {

// Names reach the database: never renumber or rename.
enum class OutcomeKind : int {
  kOk = 0,
  kSlow = 1,       // far behind the best: dropped before its rounds were complete
  kWrong = 2,      // output outside the tolerance, or a damaged canary
  kNonFinite = 3,  // NaN or infinity in the output, or an unwritten element
  kFault = 4,      // the worker died (signal, memory fault)
  kHang = 5,       // no answer within the time limit
  kOutOfMemory = 6,
  kLaunchFailed = 7,   // the device refused the launch and is still usable
  kOverLimits = 8,     // needs more local memory, threads or workspace than there is
  kNotCapturable = 9,  // cannot be captured into a graph and replayed
  kNotRecorded = 10,   // a replay device has no time for it
  kQuarantined = 11,   // two crashes: not tried again
};

std::string_view name(OutcomeKind kind);
bool parse_outcome_kind(std::string_view text, OutcomeKind* kind);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kOk;
  std::string text;  // empty for kOk; else one line for a person

  bool ok() const { return kind == OutcomeKind::kOk; }
};

struct TimedRun {
  Outcome outcome;
  double time_us = 0;  // valid where outcome is ok
};

}  // namespace mla

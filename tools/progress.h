// SPDX-License-Identifier: MIT
// What a person sees on standard error while a run measures: on a terminal one line rewritten in
// place, elsewhere one plain line every ten seconds; and permanent lines for what is worth keeping.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "kernels/outcome.h"
#include "tools/term.h"
#include "tuner/session.h"

namespace mla::tools {

struct ProgressOptions {
  bool lines = true;      // the live line or its plain form
  bool permanent = true;  // new best, failures, verdicts
  bool every_failure = false;
  bool relative_times = false;
};

struct FailureCount {
  int64_t count = 0;
  Problem problem;  // of the first one
  KernelConfig config;
  std::string text;
};
using FailureCounts = std::map<OutcomeKind, FailureCount>;

class RunProgress {
 public:
  RunProgress(std::FILE* stream, const Terminal& terminal, const ProgressOptions& options);

  void on_event(const tuner::ProgressEvent& event);
  // Takes the live line away, so that what follows begins on a clean one.
  void clear();

  const FailureCounts& failures() const { return failures_; }

 private:
  void status(const tuner::ProgressEvent& event);
  void permanent(const tuner::ProgressEvent& event, Style style, const std::string& text);
  void failure(const tuner::ProgressEvent& event);
  std::string live_line(const tuner::ProgressEvent& event) const;

  std::FILE* stream_;
  Terminal terminal_;
  ProgressOptions options_;
  FailureCounts failures_;
  double last_status_s_ = -1e9;  // elapsed time of the last status line
  bool line_shown_ = false;
};

// "1m10s-1m35s"; one number where both ends read the same.
std::string eta_text(double low_s, double high_s);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
#include "db/record.h"

namespace mla::db {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::kSearch:
      return "search";
    case Phase::kSemifinal:
      return "semifinal";
    case Phase::kFinal:
      return "final";
    case Phase::kCross:
      return "cross";
  }
  return "search";
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kDefaultBest:
      return "default_best";
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kFailed:
      return "failed";
  }
  return "failed";
}

bool parse_verdict(std::string_view text, Verdict* verdict) {
  for (const Verdict v : {Verdict::kFaster,
                          Verdict::kDefaultBest,
                          Verdict::kUndecided,
                          Verdict::kSlower,
                          Verdict::kFailed}) {
    if (text != name(v)) continue;
    *verdict = v;
    return true;
  }
  return false;
}

std::string_view name(WinnerStatus status) {
  switch (status) {
    case WinnerStatus::kActive:
      return "active";
    case WinnerStatus::kDemoted:
      return "demoted";
    case WinnerStatus::kVerifyAgain:
      return "verify_again";
  }
  return "verify_again";
}

}  // namespace mla::db

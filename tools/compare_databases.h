// SPDX-License-Identifier: MIT
// `mla-tune compare BEFORE AFTER`: whether the answers of one database are faster than those of
// another, shape by shape. The report's list of regressions is the same comparison.
//
// The evidence, best first:
//   paired  both rows have rounds against the same default under the same software: their gains
//           over that default are compared, and a change of clocks between the two runs cancels
//   times   the answers' own times in the final rounds: what remains where the software differs
//   medians no rounds on one side (an imported row): a difference has no interval
// The interval is from the quartiles of both sides at their least favourable. The margin is the
// guard's, or the placebo noise of either side where that is larger. Within the margin: SAME;
// beyond it with an interval that excludes 0: FAST or SLOW; else AMBG. ???? where a side has no
// answer that can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.h"
#include "tools/term.h"

namespace mla::tools {

enum class ChangeVerdict { kSlow, kAmbiguous, kUnknown, kFast, kSame };  // in the order of listings
inline constexpr std::array<ChangeVerdict, 5> kChangeVerdicts = {ChangeVerdict::kSlow,
                                                                 ChangeVerdict::kAmbiguous,
                                                                 ChangeVerdict::kUnknown,
                                                                 ChangeVerdict::kFast,
                                                                 ChangeVerdict::kSame};
std::string_view mark(ChangeVerdict verdict);  // "SLOW", "AMBG", "????", "FAST", "SAME"
std::string_view name(ChangeVerdict verdict);  // "slow": what --fail-on takes

enum class ChangeEvidence { kNone, kPaired, kTimes, kMedians };
std::string_view name(ChangeEvidence evidence);  // "none", "paired", "times", "medians"

struct ShapeChange {
  std::string device_key;
  Problem problem;
  bool relative_times = false;
  std::optional<db::WinnerRecord> before, after;
  std::vector<std::string> environment;  // "compiler: gcc 12 -> gcc 13", where it differs
  ChangeVerdict verdict = ChangeVerdict::kUnknown;
  ChangeEvidence evidence = ChangeEvidence::kNone;
  std::string reason;  // why there is none
  double change = 0;   // time before / time after - 1: above 0 is faster
  double low = 0;      // equal to `change` where there is no interval
  double high = 0;
  double margin = 0;
};

struct DatabaseChanges {
  std::string before, after;        // paths
  std::vector<ShapeChange> shapes;  // the worst verdicts first, then by device and shape
};

DatabaseChanges compare_databases(const db::Store& before, const db::Store& after);

int64_t count(const DatabaseChanges& changes, ChangeVerdict verdict);

// "1 SLOW, 0 AMBG, 0 ????, 2 FAST, 5 SAME; geomean +0.3% over 8 shapes".
std::string changes_summary(const DatabaseChanges& changes);
std::string change_text(const ShapeChange& change);    // "+1.2% (0.9..1.6)", "-"
std::string evidence_text(const ShapeChange& change);  // "paired"; the reason where there is none
std::string answer_time_cell(const std::optional<db::WinnerRecord>& winner, bool relative);
std::string changes_text(const DatabaseChanges& changes, const Terminal& terminal);
std::string changes_markdown(const DatabaseChanges& changes);
std::string changes_json(const DatabaseChanges& changes);

}  // namespace mla::tools

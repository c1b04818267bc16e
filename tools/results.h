// SPDX-License-Identifier: MIT
// Tuned shapes for people: the table and the summary that `run` and `report` share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/record.h"
#include "tools/term.h"

namespace mla::tools {

// The gain whose factor is the geometric mean of theirs; 0 of none.
double geomean_gain(const std::vector<double>& gains);

struct ResultSummary {
  int64_t shapes = 0;  // with a verdict other than failed
  int64_t faster = 0, default_best = 0, undecided = 0, slower = 0, failed = 0;
  double geomean_gain =
      0;  // of what lookups answer, over the reference; a kept default counts as 0
  double worst_gain = 0;
  double best_gain = 0;
  double placebo_noise = 0;  // the largest
};
ResultSummary summarize(const std::vector<db::WinnerRecord>& winners);

// The placebo's spread above which measured gains of a few per cent are not to be believed.
inline constexpr double kNoiseWarning = 0.01;

// "geomean +4.1% over the default, ...; 2 faster, 1 default best".
std::string summary_text(const ResultSummary& summary);

std::string verdict_text(db::Verdict verdict);            // "default best"
std::string gain_text(const db::WinnerRecord& winner);    // "+10.5% (10.1..10.9)"
std::string counts_text(const db::WinnerRecord& winner);  // "96/412/0": tried/pruned/failed

// The columns of a problem that differ between the shapes, after batch and seq_len; and the same
// cells of one problem.
std::vector<std::string> shape_columns(const std::vector<Problem>& problems);
std::vector<std::string> shape_cells(const std::vector<std::string>& columns,
                                     const Problem& problem);

Table winner_table(const std::vector<db::WinnerRecord>& winners, bool relative_times);

}  // namespace mla::tools

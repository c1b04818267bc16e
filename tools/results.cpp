// SPDX-License-Identifier: MIT
#include "tools/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mla::tools {
namespace {

using Cell = std::string (*)(const Problem&);

struct ShapeColumn {
  const char* title;
  bool always;
  Cell cell;
};

// In the order of a problem's text.
constexpr ShapeColumn kShapeColumns[] = {
    {"batch", true, [](const Problem& p) { return std::to_string(p.batch); }},
    {"nhead", false, [](const Problem& p) { return std::to_string(p.nhead); }},
    {"seq_len", true, [](const Problem& p) { return std::to_string(p.seq_len); }},
    {"q_len", false, [](const Problem& p) { return std::to_string(p.q_len); }},
    {"page", false, [](const Problem& p) { return std::to_string(p.page_size); }},
    {"kv", false, [](const Problem& p) { return std::string(name(p.kv_dtype)); }},
    {"shared",
     false,
     [](const Problem& p) { return fmt::format("{}/{}", p.shared_prefix, p.share_group); }},
    {"imbalance", false, [](const Problem& p) { return std::to_string(p.imbalance); }},
    {"pool", false, [](const Problem& p) { return std::string(name(p.pool)); }},
};

Style row_style(db::Verdict verdict) {
  if (verdict == db::Verdict::kFaster) return Style::kGood;
  return verdict == db::Verdict::kFailed ? Style::kBad : Style::kPlain;
}

void count_verdict(db::Verdict verdict, ResultSummary* summary) {
  switch (verdict) {
    case db::Verdict::kFaster:
      ++summary->faster;
      break;
    case db::Verdict::kDefaultBest:
      ++summary->default_best;
      break;
    case db::Verdict::kUndecided:
      ++summary->undecided;
      break;
    case db::Verdict::kSlower:
      ++summary->slower;
      break;
    case db::Verdict::kFailed:
      ++summary->failed;
      break;
  }
}

}  // namespace

double geomean_gain(const std::vector<double>& gains) {
  if (gains.empty()) return 0;
  double log_sum = 0;
  for (const double gain : gains) log_sum += std::log1p(gain);
  return std::expm1(log_sum / static_cast<double>(gains.size()));
}

ResultSummary summarize(const std::vector<db::WinnerRecord>& winners) {
  ResultSummary summary;
  std::vector<double> gains;
  for (const db::WinnerRecord& winner : winners) {
    count_verdict(winner.verdict, &summary);
    if (winner.verdict == db::Verdict::kFailed) continue;
    summary.worst_gain =
        summary.shapes == 0 ? winner.gain : std::min(summary.worst_gain, winner.gain);
    summary.best_gain =
        summary.shapes == 0 ? winner.gain : std::max(summary.best_gain, winner.gain);
    summary.placebo_noise = std::max(summary.placebo_noise, winner.placebo_noise);
    gains.push_back(winner.gain);
    ++summary.shapes;
  }
  summary.geomean_gain = geomean_gain(gains);
  return summary;
}

std::string summary_text(const ResultSummary& s) {
  std::string text =
      fmt::format("geomean {} over the reference, best {}, worst {}; {} faster, {} default best",
                  percent_text(s.geomean_gain),
                  percent_text(s.best_gain),
                  percent_text(s.worst_gain),
                  s.faster,
                  s.default_best);
  return text +
         fmt::format(", {} undecided, {} slower, {} failed", s.undecided, s.slower, s.failed);
}

std::string verdict_text(db::Verdict verdict) {
  std::string text(db::name(verdict));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string gain_text(const db::WinnerRecord& winner) {
  if (winner.verdict == db::Verdict::kFailed) return "-";
  if (winner.verdict != db::Verdict::kFaster) return percent_text(winner.gain);
  return interval_text(winner.gain, winner.gain_low, winner.gain_high);
}

std::string counts_text(const db::WinnerRecord& winner) {
  return fmt::format(
      "{}/{}/{}", winner.configs_measured, winner.configs_pruned, winner.configs_failed);
}

std::vector<std::string> shape_columns(const std::vector<Problem>& problems) {
  std::vector<std::string> titles;
  for (const ShapeColumn& column : kShapeColumns) {
    const bool differs = std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
      return column.cell(p) != column.cell(problems.front());
    });
    if (column.always || differs) titles.emplace_back(column.title);
  }
  return titles;
}

std::vector<std::string> shape_cells(const std::vector<std::string>& columns,
                                     const Problem& problem) {
  std::vector<std::string> cells;
  for (const std::string& title : columns) {
    for (const ShapeColumn& column : kShapeColumns) {
      if (title == column.title) cells.push_back(column.cell(problem));
    }
  }
  return cells;
}

Table winner_table(const std::vector<db::WinnerRecord>& winners, bool relative_times) {
  std::vector<Problem> problems;
  for (const db::WinnerRecord& winner : winners) problems.push_back(winner.problem);
  const std::vector<std::string> shape = shape_columns(problems);
  Table table;
  for (const std::string& title : shape) table.column(title, Table::Align::kRight);
  table.column(relative_times ? "default_rel" : "default_us", Table::Align::kRight);
  table.column(relative_times ? "best_rel" : "best_us", Table::Align::kRight);
  table.column("gain");
  table.column("verdict");
  table.column("tried/pruned/failed");
  table.column("config");
  for (const db::WinnerRecord& winner : winners) {
    std::vector<std::string> cells = shape_cells(shape, winner.problem);
    for (std::string cell : {time_cell(winner.default_us, relative_times),
                             time_cell(winner.expected_us, relative_times),
                             gain_text(winner),
                             verdict_text(winner.verdict),
                             counts_text(winner),
                             to_text(winner.config)}) {
      cells.push_back(std::move(cell));
    }
    table.row(std::move(cells), row_style(winner.verdict));
  }
  return table;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Two databases beside each other, for a terminal, a pull request and a program.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/compare_databases.h"
#include "tools/json_values.h"
#include "tools/markdown.h"
#include "tools/results.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

using Cells = std::vector<std::string>;

const Cells kTitles = {"verdict", "change", "before_us", "after_us", "evidence", "shape", "device"};

Cells cells_of(const ShapeChange& shape) {
  return {std::string(mark(shape.verdict)),
          change_text(shape),
          answer_time_cell(shape.before, shape.relative_times),
          answer_time_cell(shape.after, shape.relative_times),
          evidence_text(shape),
          to_text(shape.problem),
          shape.device_key};
}

// What differed in the software, each difference once.
std::string environment_lines(const DatabaseChanges& changes, const char* bullet) {
  std::vector<std::string> seen;
  std::string text;
  for (const ShapeChange& shape : changes.shapes) {
    for (const std::string& difference : shape.environment) {
      if (std::find(seen.begin(), seen.end(), difference) != seen.end()) continue;
      seen.push_back(difference);
      text += bullet + difference + "\n";
    }
  }
  return text;
}

Style style_of(ChangeVerdict verdict) {
  if (verdict == ChangeVerdict::kSlow) return Style::kBad;
  return verdict == ChangeVerdict::kFast ? Style::kGood : Style::kPlain;
}

Json json_side(const std::optional<db::WinnerRecord>& winner, bool relative) {
  return winner ? json_winner(*winner, relative) : Json(nullptr);
}

}  // namespace

std::string changes_summary(const DatabaseChanges& changes) {
  std::string text;
  for (const ChangeVerdict verdict : kChangeVerdicts) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", count(changes, verdict), mark(verdict));
  }
  std::vector<double> gains;
  for (const ShapeChange& shape : changes.shapes) {
    if (shape.verdict != ChangeVerdict::kUnknown) gains.push_back(shape.change);
  }
  if (gains.empty()) return text + "; nothing to compare";
  return text + fmt::format(
                    "; geomean {} over {} shapes", percent_text(geomean_gain(gains)), gains.size());
}

std::string answer_time_cell(const std::optional<db::WinnerRecord>& winner, bool relative) {
  return winner ? time_cell(winner->expected_us, relative) : "-";
}

std::string evidence_text(const ShapeChange& change) {
  return change.evidence == ChangeEvidence::kNone ? change.reason
                                                  : std::string(name(change.evidence));
}

std::string change_text(const ShapeChange& change) {
  if (change.verdict == ChangeVerdict::kUnknown) return "-";
  if (change.evidence == ChangeEvidence::kMedians) return percent_text(change.change);
  return interval_text(change.change, change.low, change.high);
}

std::string changes_text(const DatabaseChanges& changes, const Terminal& terminal) {
  Table table;
  for (const std::string& title : kTitles) {
    const bool number = title == "before_us" || title == "after_us";
    table.column(title, number ? Table::Align::kRight : Table::Align::kLeft);
  }
  for (const ShapeChange& shape : changes.shapes) {
    table.row(cells_of(shape), style_of(shape.verdict));
  }
  return table.text(terminal) + environment_lines(changes, "") +
         wrapped(terminal, changes_summary(changes), 2) + "\n";
}

std::string changes_markdown(const DatabaseChanges& changes) {
  std::string text = fmt::format("{} against {}: {}.\n\n",
                                 markdown_code(changes.after),
                                 markdown_code(changes.before),
                                 changes_summary(changes)) +
                     markdown_head(kTitles);
  for (const ShapeChange& shape : changes.shapes) text += markdown_row(cells_of(shape));
  const std::string environment = environment_lines(changes, "- ");
  if (!environment.empty()) text += "\nSoftware that differs:\n\n" + environment;
  return text;
}

std::string changes_json(const DatabaseChanges& changes) {
  Json document = json_document();
  document["before"] = changes.before;
  document["after"] = changes.after;
  for (const ChangeVerdict verdict : kChangeVerdicts) {
    document["counts"][std::string(name(verdict))] = count(changes, verdict);
  }
  document["shapes"] = Json::array();
  for (const ShapeChange& shape : changes.shapes) {
    const bool known = shape.verdict != ChangeVerdict::kUnknown;
    const bool interval = known && shape.evidence != ChangeEvidence::kMedians;
    document["shapes"].push_back(
        {{"device_key", shape.device_key},
         {"problem", json_problem(shape.problem)},
         {"verdict", std::string(name(shape.verdict))},
         {"evidence", evidence_text(shape)},
         {"change", known ? json_number(shape.change) : Json(nullptr)},
         {"change_low", interval ? json_number(shape.low) : Json(nullptr)},
         {"change_high", interval ? json_number(shape.high) : Json(nullptr)},
         {"margin", known ? json_number(shape.margin) : Json(nullptr)},
         {"environment", shape.environment},
         {"before", json_side(shape.before, shape.relative_times)},
         {"after", json_side(shape.after, shape.relative_times)}});
  }
  return json_text(document);
}

}  // namespace mla::tools

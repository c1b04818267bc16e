// SPDX-License-Identifier: MIT
// What `evaluate` prints.
#include <fmt/format.h>

#include "tools/evaluate.h"
#include "tools/term.h"

namespace mla::tools {

std::string evaluation_text(const std::vector<EvaluatedShape>& shapes,
                            bool relative_times,
                            const Terminal& terminal) {
  const char* unit = relative_times ? "rel" : "us";
  Table table;
  table.column("shape");
  table.column("source");
  table.column("configs", Table::Align::kRight);
  table.column(fmt::format("answer_{}", unit), Table::Align::kRight);
  table.column(fmt::format("best_{}", unit), Table::Align::kRight);
  table.column("regret", Table::Align::kRight);
  table.column("over default", Table::Align::kRight);
  table.column("best configuration");
  for (const EvaluatedShape& shape : shapes) {
    if (!shape.failure.empty()) {
      table.row({to_text(shape.problem),
                 std::string(policy::name(shape.answer.source)),
                 count_text(shape.configs),
                 "-",
                 "-",
                 "-",
                 "-",
                 shape.failure},
                Style::kBad);
      continue;
    }
    table.row({to_text(shape.problem),
               std::string(policy::name(shape.answer.source)),
               count_text(shape.configs),
               time_cell(shape.answer_us, relative_times),
               time_cell(shape.best_us, relative_times),
               fmt::format("{:.2f}%", 100 * shape.regret),
               percent_text(shape.gain),
               to_text(shape.best)});
  }
  const EvaluationSummary summary = summarize(shapes);
  std::string text = table.text(terminal);
  std::string sum = fmt::format(
      "{} shapes: regret median {:.2f}%, 95th percentile {:.2f}%, worst {:.2f}%; {} slower than "
      "the "
      "default; geomean {} over the default",
      summary.shapes,
      100 * summary.median_regret,
      100 * summary.p95_regret,
      100 * summary.worst_regret,
      summary.slower,
      percent_text(summary.geomean_gain));
  const char* separator = "\nanswers: ";
  for (int source = 0; source < policy::kSourceCount; ++source) {
    if (summary.by_source[source] == 0) continue;
    sum +=
        fmt::format("{}{} {}", separator, summary.by_source[source], policy::kSourceNames[source]);
    separator = ", ";
  }
  if (summary.failed > 0) sum += fmt::format("; {} shapes without figures", summary.failed);
  return text + wrapped(terminal, sum + "\n", 2);
}

}  // namespace mla::tools

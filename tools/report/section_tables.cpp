// SPDX-License-Identifier: MIT
// The sections that are tables: changes, failures, quality of the measurement, every shape.
#include <fmt/format.h>

#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/reproduce.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

using Kind = HtmlTable::Kind;

// A candidate that was dropped for being slow, or that a recording lacks, is no failure.
bool is_failure(OutcomeKind kind) {
  return kind != OutcomeKind::kSlow && kind != OutcomeKind::kNotRecorded;
}

std::string losses_text(const ReportShape& shape) {
  std::string text;
  for (const db::LossRecord& loss : shape.losses) {
    if (!text.empty()) text += ", ";
    text += loss.rounds > 0 ? percent_text(loss.loss) : "not measured";
  }
  return text;
}

}  // namespace

std::string change_section(const PageDevice& page) {
  const DatabaseChanges* changes = page.options.changes;
  if (changes == nullptr) return "";
  HtmlTable table;
  for (const char* title : {"verdict", "shape"}) table.column(title);
  for (const char* title : {"before", "after", "change"}) table.column(title, Kind::kNumber);
  for (const char* title : {"evidence", "software that differs"}) table.column(title);
  for (const ShapeChange& shape : changes->shapes) {
    if (shape.device_key != device_key(page.device.device)) continue;
    table.row({std::string(mark(shape.verdict)),
               to_text(shape.problem),
               answer_time_cell(shape.before, shape.relative_times),
               answer_time_cell(shape.after, shape.relative_times),
               change_text(shape),
               evidence_text(shape),
               fmt::format("{}", fmt::join(shape.environment, "; "))});
  }
  if (table.empty()) return html_paragraph("The older database has no shape of this device.");
  return html_paragraph(changes->before + ": " + changes_summary(*changes) + ".") +
         html_paragraph(
             "Times in us. Change: time before / time after - 1, above 0 is faster; the interval "
             "is "
             "from the quartiles of both sides at their least favourable. \"paired\": the gains "
             "over "
             "one default are compared, so that other clocks cancel; \"times\": the answers' own "
             "times. SAME is within the margin of 0.5 % or the placebo's noise, AMBG beyond it "
             "with "
             "an interval that holds 0.") +
         table.html();
}

std::string failure_section(const PageDevice& page) {
  HtmlTable table;
  table.column("outcome");
  table.column("count", Kind::kNumber);
  table.column("shape");
  table.column("first");
  table.column("measure it again", Kind::kCode);
  int64_t slow = 0, pruned = 0;
  for (const ReportShape& shape : page.device.shapes) {
    pruned += shape.summary.winner.configs_pruned;
    for (const auto& [kind, group] : shape.failures) {
      if (kind == OutcomeKind::kSlow) slow += group.count;
      if (!is_failure(kind)) continue;
      table.row({std::string(name(kind)),
                 std::to_string(group.count),
                 to_text(shape.summary.winner.problem),
                 group.text,
                 reproduce_command(
                     shape.summary.run.command_line, shape.summary.winner.problem, group.config)});
    }
  }
  const std::string dropped = html_paragraph(fmt::format(
      "{} candidates were dropped for being slow, and {} were left out by constraints or "
      "the search before they were measured; neither is a failure.",
      count_text(slow),
      count_text(pruned)));
  return (table.empty() ? html_paragraph("No candidate failed.") : table.html()) + dropped;
}

std::string quality_section(const PageDevice& page) {
  HtmlTable table;
  table.column("shape");
  for (const char* title : {"rounds", "samples", "spread", "placebo", "drift", "first sample"}) {
    table.column(title, Kind::kNumber);
  }
  for (size_t i = 0; i < page.device.shapes.size(); ++i) {
    const ReportShape& shape = page.device.shapes[i];
    table.row({to_text(shape.summary.winner.problem),
               count_text(shape.quality.rounds),
               count_text(shape.quality.samples),
               fmt::format("{:.2f}%", 100 * shape.quality.spread),
               fmt::format("{:.2f}%", 100 * shape.summary.winner.placebo_noise),
               percent_text(shape.quality.drift),
               percent_text(page.evidence[i].first_sample)});
  }
  return html_paragraph(
             "Spread: half the interquartile range of a configuration's samples over their median; "
             "the median over configurations. Placebo: a second copy of the default in every final "
             "round, median of |ratio - 1|. Drift: the reference's median in the last quarter of "
             "all "
             "rounds against the first. First sample: of a configuration against the median of its "
             "later ones, the median over configurations.") +
         table.html();
}

std::string table_section(const PageDevice& page) {
  const bool relative = page.device.device.relative_times;
  HtmlTable table;
  table.column("shape");
  table.column(relative ? "default" : "default us", Kind::kNumber);
  table.column(relative ? "answer" : "answer us", Kind::kNumber);
  table.column("gain", Kind::kNumber);
  table.column("verdict");
  table.column("won/lost/rounds", Kind::kNumber);
  table.column("p", Kind::kNumber);
  table.column("tried/pruned/failed", Kind::kNumber);
  table.column("neighbours' winners lose");
  table.column("config", Kind::kCode);
  for (const ReportShape& shape : page.device.shapes) {
    const db::WinnerRecord& w = shape.summary.winner;
    const bool active = w.status == db::WinnerStatus::kActive;
    table.row({to_text(w.problem),
               time_cell(w.default_us, relative),
               time_cell(w.expected_us, relative),
               gain_text(w),
               verdict_text(w.verdict) + (active ? "" : fmt::format(" ({})", name(w.status))),
               fmt::format("{}/{}/{}", w.wins, w.losses, w.rounds),
               fmt::format("{:.2g}", w.p_value),
               counts_text(w),
               losses_text(shape),
               to_text(w.config)});
  }
  return html_paragraph(
             "Times are medians of the final rounds. Gain: median over paired rounds of default / "
             "answer - 1, quartiles in brackets; p: one-sided sign test. Neighbours' winners: time "
             "over the default's - 1 at this shape.") +
         table.html();
}

}  // namespace mla::tools

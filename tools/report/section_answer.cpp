// SPDX-License-Identifier: MIT
// The first things a reader wants: what tuning bought, and under which conditions that was
// measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/environment_fields.h"
#include "tools/options.h"
#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/reproduce.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

// The reference's own time moves by less where clocks hold and the machine is quiet.
constexpr double kDriftWarning = 0.01;

const ReportShape* most_extreme(const ReportDevice& device, bool best) {
  const ReportShape* found = nullptr;
  for (const ReportShape& shape : device.shapes) {
    if (shape.summary.winner.verdict == db::Verdict::kFailed) continue;
    const double gain = shape.summary.winner.gain;
    if (found == nullptr ||
        (best ? gain > found->summary.winner.gain : gain < found->summary.winner.gain)) {
      found = &shape;
    }
  }
  return found;
}

std::string verdict_sentence(const ResultSummary& s) {
  std::string text = fmt::format(
      "A tuned configuration is faster at {} of {} shapes", s.faster, s.shapes + s.failed);
  const std::pair<int64_t, const char*> others[] = {
      {s.default_best, "at {} the default is best"},
      {s.undecided, "{} are undecided and keep the default"},
      {s.slower, "at {} the best candidate lost and the default is kept"},
      {s.failed, "{} could not be measured"}};
  for (const auto& [count, clause] : others) {
    if (count > 0) text += "; " + fmt::format(fmt::runtime(clause), count);
  }
  return text + ".";
}

std::string gain_sentence(const ReportDevice& device) {
  const ReportShape* best = most_extreme(device, true);
  const ReportShape* worst = most_extreme(device, false);
  if (best == nullptr) return "Nothing could be measured.";
  return fmt::format(
      " Over all of them the answers are {} against the default policy (geometric mean), between "
      "{} at {} and {} at {}.",
      percent_text(device.summary.geomean_gain),
      percent_text(worst->summary.winner.gain),
      to_text(worst->summary.winner.problem),
      percent_text(best->summary.winner.gain),
      to_text(best->summary.winner.problem));
}

std::string drift_text(const ReportDevice& device) {
  int64_t moved = 0;
  const ReportShape* worst = nullptr;
  for (const ReportShape& shape : device.shapes) {
    const double drift = std::abs(shape.quality.drift);
    if (drift > kDriftWarning) ++moved;
    if (worst == nullptr || drift > std::abs(worst->quality.drift)) worst = &shape;
  }
  if (moved == 0) return "";
  return fmt::format(
      "The clocks moved, or something else did: in {} of {} shapes the reference's own time in the "
      "last quarter of its rounds differs from that in the first by more than {:.0f} %, most by {} "
      "({}). Gains are formed inside rounds and stand; times in microseconds are of several "
      "speeds.",
      moved,
      device.shapes.size(),
      100 * kDriftWarning,
      percent_text(worst->quality.drift),
      to_text(worst->summary.winner.problem));
}

std::string noise_text(const ReportDevice& device) {
  const double noise = device.summary.placebo_noise;
  if (noise <= kNoiseWarning) return "";
  return fmt::format(
      "The machine was noisy: a second copy of the default moved by up to {:.2f} % in a final. "
      "Gains below that say little.",
      100 * noise);
}

void add(HtmlTable* table, const std::string& name, const std::string& value) {
  if (!value.empty()) table->row({name, value});
}

}  // namespace

std::string answer_section(const PageDevice& page) {
  const std::string text = verdict_sentence(page.device.summary) + gain_sentence(page.device);
  std::string html = html_paragraph(text, "lead");
  if (page.device.device.relative_times) {
    html += html_paragraph("Times are ratios of a recording: they compare within one shape only.");
  }
  if (page.device.runs.empty()) return html;
  const std::string device = device_spec_of(page.device.runs.back().command_line);
  const std::string option = device.empty() ? "" : " --device " + shell_quoted({device});
  return html + "<p>Next: " + html_code("mla-tune verify" + option + " --db FILE") +
         " times the winners against the default again, " +
         html_code("mla-tune evaluate" + option + " --db FILE") +
         " measures what a lookup answers at shapes between them.</p>\n";
}

std::string conditions_section(const PageDevice& page) {
  const ReportDevice& device = page.device;
  std::string html;
  for (const std::string& warning : {drift_text(device), noise_text(device)}) {
    if (!warning.empty()) html += html_paragraph(warning, "alarm");
  }
  if (html.empty()) {
    html += html_paragraph(
        "The reference's own time held within 1 % over every shape's rounds, and so did its second "
        "copy: nothing says that clocks moved. Clocks themselves are not recorded.");
  }
  HtmlTable table;
  table.column("condition");
  table.column("value");
  const DeviceInfo& info = device.device;
  add(&table, "device", fmt::format("{}, {}", info.name, device_key(info)));
  add(&table, "PCI id", info.pci_id);
  add(&table,
      "memory",
      info.memory_bytes > 0 ? bytes_text(static_cast<double>(info.memory_bytes)) : "");
  for (const EnvironmentField& field : kEnvironmentFields) {
    add(&table, field.title, device.environment.*field.member);
  }
  for (const db::RunInfo& run : device.runs) {
    add(&table, "run", fmt::format("{} on {}, seed {}", run.started_utc, run.host, run.seed));
    add(&table, "command", run.command_line);
  }
  for (const std::string& protocol : device.protocols) add(&table, "protocol", protocol);
  return html + table.html();
}

}  // namespace mla::tools

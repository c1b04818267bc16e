// SPDX-License-Identifier: MIT
// What the search itself shows: how soon it was done, and what each value of a knob costs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/plot.h"
#include "tools/term.h"
#include "tuner/guard.h"

namespace mla::tools {
namespace {

constexpr double kWidth = 356;
constexpr double kHeight = 236;
constexpr Frame kFrame = {40, 26, 346, 176};
constexpr double kShownLoss = 25;  // per cent; more is drawn at the top

double shown_percent(double loss) {
  return std::min(100 * loss, kShownLoss);
}

Scale loss_scale() {
  return Scale::linear(0, kShownLoss, kFrame.bottom - 4, kFrame.top + 4);
}

// From the first step on: a configuration stays the best until a better one is measured.
std::vector<Point> staircase(const std::vector<BestSoFar>& steps, const Scale& x, const Scale& y) {
  std::vector<Point> line;
  for (const BestSoFar& step : steps) {
    const double at = x(static_cast<double>(step.samples));
    if (!line.empty()) line.push_back({at, line.back().y});
    line.push_back({at, y(shown_percent(step.loss))});
  }
  return line;
}

// The first sample from which on the loss is within the guard's margin.
int64_t samples_to_margin(const std::vector<BestSoFar>& steps) {
  for (const BestSoFar& step : steps) {
    if (step.loss <= tuner::kGuardMargin) return step.samples;
  }
  return steps.empty() ? 0 : steps.back().samples;
}

// Of one knob over all shapes: value -> losses of the shapes that measured it.
struct KnobPanel {
  std::map<int32_t, std::vector<double>> losses;
  std::map<int32_t, int64_t> dropped;  // shapes that gave the value up before three samples
};

std::map<Knob, KnobPanel> knob_panels(const PageDevice& page) {
  std::map<Knob, KnobPanel> panels;
  for (const Evidence& evidence : page.evidence) {
    for (const auto& [knob, effects] : evidence.knobs) {
      KnobPanel& panel = panels[knob];
      for (const KnobEffect& effect : effects) {
        if (effect.configs > 0) {
          panel.losses[effect.value].push_back(effect.loss);
        } else {
          ++panel.dropped[effect.value];
          panel.losses.try_emplace(effect.value);
        }
      }
    }
  }
  return panels;
}

int64_t ties(const std::vector<double>& losses) {
  return std::count_if(
      losses.begin(), losses.end(), [](double loss) { return loss <= tuner::kGuardMargin; });
}

Svg draw_knob(Knob knob, const KnobPanel& panel) {
  const std::string title(name(knob));
  const auto values = static_cast<double>(panel.losses.size());
  const Scale x = Scale::linear(-0.5, values - 0.5, kFrame.left, kFrame.right);
  const Scale y = loss_scale();
  Svg svg(kWidth, kHeight, "Loss by value of " + title, "The numbers are listed below it.");
  std::vector<Tick> ticks, tie_ticks;
  double index = 0;
  for (const auto& [value, losses] : panel.losses) {
    ticks.push_back({index, value_text(knob, value)});
    tie_ticks.push_back({index, fmt::format("{}/{}", ties(losses), losses.size())});
    index += 1;
  }
  draw_axes(&svg, kFrame, x, ticks, "", y, ticks_of_steps(y), "loss, %");
  draw_labels(&svg, x, tie_ticks, kFrame.bottom + 2 * kSvgLinePx + 2);
  svg.text({kFrame.right, kFrame.bottom + 3 * kSvgLinePx + 4},
           "value; shapes where it ties with the best",
           Svg::Anchor::kEnd,
           "label");
  index = 0;
  for (const auto& [value, losses] : panel.losses) {
    for (const double loss : losses) {
      svg.circle({x(index), y(shown_percent(loss))}, 3, "faint-point", "");
    }
    if (!losses.empty()) {
      const double median = y(shown_percent(tuner::median(losses)));
      svg.line({x(index) - 8, median}, {x(index) + 8, median}, "curve");
    }
    index += 1;
  }
  return svg;
}

std::string knob_table(Knob knob, const KnobPanel& panel) {
  HtmlTable table;
  table.column(std::string(name(knob)));
  table.column("shapes", HtmlTable::Kind::kNumber);
  table.column("median loss", HtmlTable::Kind::kNumber);
  table.column("worst loss", HtmlTable::Kind::kNumber);
  table.column("ties", HtmlTable::Kind::kNumber);
  table.column("dropped early", HtmlTable::Kind::kNumber);
  for (const auto& [value, losses] : panel.losses) {
    const auto dropped = panel.dropped.find(value);
    table.row({value_text(knob, value),
               std::to_string(losses.size()),
               losses.empty() ? "-" : percent_text(tuner::median(losses)),
               losses.empty() ? "-" : percent_text(*std::max_element(losses.begin(), losses.end())),
               std::to_string(ties(losses)),
               std::to_string(dropped == panel.dropped.end() ? 0 : dropped->second)});
  }
  return html_details("numbers", table.html());
}

std::string runner_up_table(const Evidence& evidence, bool relative) {
  HtmlTable table;
  table.column("rank", HtmlTable::Kind::kNumber);
  table.column(relative ? "relative" : "us", HtmlTable::Kind::kNumber);
  table.column("quartiles", HtmlTable::Kind::kNumber);
  table.column("n", HtmlTable::Kind::kNumber);
  table.column("gain (paired)", HtmlTable::Kind::kNumber);
  table.column("tie");
  table.column("config", HtmlTable::Kind::kCode);
  for (size_t i = 0; i < std::min(kRankedConfigs, evidence.ranked.size()); ++i) {
    const RankedConfig& one = evidence.ranked[i];
    table.row({std::to_string(i + 1),
               time_cell(one.time_us.median, relative),
               times_cell(one.time_us.low, one.time_us.high, relative),
               std::to_string(one.samples),
               one.paired > 0 ? percent_text(one.gain.median) : "-",
               one.tie && i > 0 ? "=" : "",
               to_text(one.config)});
  }
  return table.html();
}

}  // namespace

std::string convergence_section(const PageDevice& page) {
  double most = 1;
  std::vector<double> needed;
  int64_t samples = 0;
  for (const Evidence& evidence : page.evidence) {
    if (evidence.convergence.empty()) continue;
    most = std::max(most, static_cast<double>(evidence.convergence.back().samples));
    samples += evidence.convergence.back().samples;
    needed.push_back(static_cast<double>(samples_to_margin(evidence.convergence)));
  }
  if (needed.empty()) return "";
  const Scale x = Scale::logarithmic(1, most, kFrame.left, kFrame.right - 8);
  const Scale y = loss_scale();
  Svg svg(kWidth, kHeight - kSvgLinePx, "Convergence of the search", "A line a shape.");
  draw_axes(
      &svg, kFrame, x, ticks_of_decades(x), "samples measured", y, ticks_of_steps(y), "loss, %");
  for (const Evidence& evidence : page.evidence) {
    if (!evidence.convergence.empty()) svg.polyline(staircase(evidence.convergence, x, y), "faint");
  }
  const std::string caption = fmt::format(
      "n = {} shapes, {} samples. Half of the shapes were within {:.1f} % of their best after "
      "{:.0f} "
      "samples, all of them after {:.0f}.",
      needed.size(),
      count_text(samples),
      100 * tuner::kGuardMargin,
      tuner::median(needed),
      *std::max_element(needed.begin(), needed.end()));
  return html_paragraph(fmt::format(
             "A line a shape: what the best configuration measured so far loses to the best of "
             "all. "
             "Both are valued by the median of all their samples, also later ones; configurations "
             "with fewer than three are left out. Above {:.0f} % a line runs along the top.",
             kShownLoss)) +
         "<div class=\"figures\">\n" + html_figure("Best so far", svg, caption) + "</div>\n";
}

std::string knob_section(const PageDevice& page) {
  std::string panels;
  for (const auto& [knob, panel] : knob_panels(page)) {
    if (knob == Knob::kSplits) continue;  // has curves of its own
    panels += "<div class=\"panel\">\n" +
              html_figure(std::string(name(knob)),
                          draw_knob(knob, panel),
                          fmt::format("n = {} shapes, a circle each; line: their median.",
                                      page.evidence.size())) +
              knob_table(knob, panel) + "</div>\n";
  }
  std::string tops;
  for (size_t i = 0; i < page.evidence.size(); ++i) {
    if (page.evidence[i].ranked.empty()) continue;
    tops += html_details(to_text(page.device.shapes[i].summary.winner.problem),
                         runner_up_table(page.evidence[i], page.device.device.relative_times));
  }
  if (panels.empty() && tops.empty()) return "";
  return html_paragraph(fmt::format(
             "For each value: time of the fastest configuration that holds it over the fastest of "
             "all - 1, both by the median of three samples or more. A tie is within {:.1f} %. "
             "Above "
             "{:.0f} % circles lie on the top.",
             100 * tuner::kGuardMargin,
             kShownLoss)) +
         "<div class=\"figures\">\n" + panels + "</div>\n" +
         html_paragraph(
             "The ten fastest configurations of each shape; \"=\" where the quartiles of the "
             "samples "
             "reach into those of the first.") +
         tops;
}

}  // namespace mla::tools

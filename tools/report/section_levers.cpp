// SPDX-License-Identifier: MIT
// What each lever is worth at each batch: from sweeps where there are any, else from pairs of
// configurations that the search happened to measure in one round.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/plot.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

constexpr double kWidth = 356;
constexpr double kHeight = 220;
constexpr Frame kFrame = {48, 30, 346, 176};

std::string quartiles_text(const tuner::Quartiles& gain) {
  return interval_text(gain.median, gain.low, gain.high);
}

std::string paired_table(const PageDevice& page) {
  HtmlTable table;
  table.column("shape");
  for (const LeverKind lever : kLeverKinds) table.column(title(lever));
  int64_t pairs = 0;
  for (size_t i = 0; i < page.evidence.size(); ++i) {
    std::vector<std::string> cells = {to_text(page.device.shapes[i].summary.winner.problem)};
    for (const LeverEffect& effect : page.evidence[i].levers) {
      pairs += effect.pairs;
      cells.push_back(
          effect.pairs == 0
              ? "-"
              : fmt::format("{}, n = {}", quartiles_text(effect.gain), count_text(effect.pairs)));
    }
    table.row(std::move(cells));
  }
  if (pairs == 0) return "";
  return html_paragraph(
             "Gain of pulling one lever, all other knobs alike, over every pair of configurations "
             "that the search measured in one round: median and quartiles over the pairs. Most of "
             "them are far from the best configuration, so this says which way a lever pulls and "
             "not what it is worth to the answer.") +
         table.html();
}

// Legs as columns, in the order of the first group.
std::string swept_table(const std::vector<SweptLever>& swept) {
  std::vector<std::string> legs;
  std::map<std::string, std::map<std::string, const SweptLever*>> rows;
  std::vector<std::string> order;
  for (const SweptLever& lever : swept) {
    if (lever.table != "levers" || lever.leg == "baseline") continue;
    if (std::find(legs.begin(), legs.end(), lever.leg) == legs.end()) legs.push_back(lever.leg);
    const std::string shape = to_text(lever.problem);
    if (rows[shape].empty()) order.push_back(shape);
    rows[shape][lever.leg] = &lever;
  }
  if (rows.empty()) return "";
  HtmlTable table;
  table.column("shape");
  for (const std::string& leg : legs) table.column(leg);
  for (const std::string& shape : order) {
    std::vector<std::string> cells = {shape};
    for (const std::string& leg : legs) {
      const auto place = rows[shape].find(leg);
      const bool there = place != rows[shape].end() && place->second->rounds > 0;
      cells.push_back(there ? fmt::format("{}, n = {}, {}",
                                          quartiles_text(place->second->gain),
                                          place->second->rounds,
                                          place->second->verdict)
                            : "-");
    }
    table.row(std::move(cells));
  }
  return html_paragraph(
             "From a sweep: gain of each lever alone and of all together over the drained "
             "baseline; "
             "median and quartiles over paired rounds, with the guard's verdict.") +
         table.html();
}

Svg draw_gain_curve(const std::vector<const SweptLever*>& legs, const std::string& heading) {
  double low = 0, high = 0, first = 1, last = 1;
  for (const SweptLever* leg : legs) {
    low = std::min(low, 100 * leg->gain.low);
    high = std::max(high, 100 * leg->gain.high);
    last = std::max<double>(last, leg->config.splits);
  }
  const Scale x = Scale::logarithmic(first, last, kFrame.left + 8, kFrame.right - 8);
  const Scale y = Scale::linear(low, high, kFrame.bottom - 6, kFrame.top + 6);
  Svg svg(kWidth, kHeight, "Gain against splits, " + heading, "A curve with its quartiles.");
  draw_axes(&svg, kFrame, x, ticks_of_powers(x), "splits", y, ticks_of_steps(y), "gain, %");
  svg.line({kFrame.left, y(0)}, {kFrame.right, y(0)}, "axis");
  std::vector<Point> upper, lower, line;
  for (const SweptLever* leg : legs) {
    upper.push_back({x(leg->config.splits), y(100 * leg->gain.high)});
    lower.push_back({x(leg->config.splits), y(100 * leg->gain.low)});
    line.push_back({x(leg->config.splits), y(100 * leg->gain.median)});
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  svg.polygon(upper, "band");
  svg.polyline(line, "curve");
  for (size_t i = 0; i < legs.size(); ++i) {
    svg.circle(
        line[i], 2.5, "point", quartiles_text(legs[i]->gain) + ": " + to_text(legs[i]->config));
  }
  return svg;
}

struct GainCurve {
  std::string heading;
  std::vector<const SweptLever*> legs;  // by splits
};

// A curve a shape and lever, in the order of the sweep.
std::vector<GainCurve> gain_curves(const std::vector<SweptLever>& swept) {
  std::vector<GainCurve> curves;
  for (const SweptLever& lever : swept) {
    if (lever.table != "dose" || lever.leg == "baseline" || lever.rounds == 0) continue;
    const std::string heading = to_text(lever.problem) + ", " + lever.leg;
    auto curve = std::find_if(
        curves.begin(), curves.end(), [&](const GainCurve& one) { return one.heading == heading; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), GainCurve{heading, {}});
    curve->legs.push_back(&lever);
  }
  for (GainCurve& curve : curves) {
    std::sort(curve.legs.begin(), curve.legs.end(), [](const auto* a, const auto* b) {
      return a->config.splits < b->config.splits;
    });
  }
  return curves;
}

std::string swept_curves(const std::vector<SweptLever>& swept) {
  std::string panels;
  for (const auto& [heading, legs] : gain_curves(swept)) {
    int64_t rounds = 0;
    for (const SweptLever* leg : legs) rounds += leg->rounds;
    panels +=
        html_figure(heading,
                    draw_gain_curve(legs, heading),
                    fmt::format("n = {} paired rounds at {} split counts.", rounds, legs.size()));
  }
  if (panels.empty()) return "";
  return html_paragraph(
             "From a sweep: gain of one lever over the baseline at forced split counts, per cent; "
             "the band is the quartiles over paired rounds.") +
         "<div class=\"figures\">\n" + panels + "</div>\n";
}

}  // namespace

std::string lever_section(const PageDevice& page) {
  std::vector<SweptLever> swept;
  for (const SweptLever& lever : page.options.swept) {
    if (lever.device == swept_device_text(page.device.device)) swept.push_back(lever);
  }
  return swept_table(swept) + swept_curves(swept) + paired_table(page);
}

}  // namespace mla::tools

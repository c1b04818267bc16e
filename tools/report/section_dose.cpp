// SPDX-License-Identifier: MIT
// Dose-response curves: time against the number of splits, a small panel a shape.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/space.h"
#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/plot.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

constexpr double kWidth = 356;
constexpr double kHeight = 230;
constexpr Frame kFrame = {48, 36, 346, 186};
constexpr int kMarkedWaves = 4;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void take(double value) {
    if (!(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(high > 0); }
};

struct Axes {
  Scale x;
  Scale y;
};

Axes axes_of(const ReportShape& shape) {
  const db::WinnerRecord& w = shape.summary.winner;
  Range splits, times_us;
  for (const DosePoint& point : shape.dose) {
    splits.take(point.splits);
    times_us.take(point.low_us);
    times_us.take(point.high_us);
  }
  for (const ModelPoint& point : shape.model) times_us.take(point.time_us);
  splits.take(w.default_config.splits);
  splits.take(w.config.splits);
  times_us.take(w.default_us);
  times_us.take(w.expected_us);
  return {Scale::logarithmic(splits.low, splits.high, kFrame.left + 8, kFrame.right - 8),
          Scale::logarithmic(times_us.low, times_us.high, kFrame.bottom - 6, kFrame.top + 6)};
}

// Where the workgroups of stage 1, formed as the answer forms them, fill the device once, twice,
// ...
void draw_waves(Svg* svg, const DeviceInfo& device, const db::WinnerRecord& w, const Scale& x) {
  const double per_split =
      static_cast<double>(w.problem.batch * request_workgroups(w.problem, w.config));
  double free_x = kFrame.left;
  for (int wave = 1; wave <= kMarkedWaves; ++wave) {
    const double splits = wave * device.compute_units / per_split;
    if (!x.contains(splits)) continue;
    const double at = x(splits);
    svg->line({at, kFrame.top}, {at, kFrame.bottom}, "wave");
    const std::string label = wave == 1 ? "1 wave" : std::to_string(wave);
    const double half = text_width(label) / 2;
    if (at - half < free_x || at + half > kWidth) continue;
    svg->text({at, kFrame.top - 4}, label, Svg::Anchor::kMiddle, "label");
    free_x = at + half + kSvgGlyphPx;
  }
}

void draw_curve(Svg* svg, const std::vector<DosePoint>& dose, const Axes& axes, bool relative) {
  std::vector<Point> upper, lower, line;
  for (const DosePoint& point : dose) {
    upper.push_back({axes.x(point.splits), axes.y(point.high_us)});
    lower.push_back({axes.x(point.splits), axes.y(point.low_us)});
    line.push_back({axes.x(point.splits), axes.y(point.time_us)});
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  svg->polygon(upper, "band");
  svg->polyline(line, "curve");
  for (size_t i = 0; i < dose.size(); ++i) {
    svg->circle(line[i],
                2.5,
                "point",
                fmt::format("{}, {} samples: {}",
                            time_text(dose[i].time_us, relative),
                            dose[i].samples,
                            to_text(dose[i].config)));
  }
}

void draw_model(Svg* svg, const std::vector<ModelPoint>& model, const Axes& axes) {
  std::vector<Point> line;
  for (const ModelPoint& point : model) {
    if (axes.x.contains(point.splits))
      line.push_back({axes.x(point.splits), axes.y(point.time_us)});
  }
  if (line.size() > 1) svg->polyline(line, "model");
}

void draw_marks(Svg* svg, const db::WinnerRecord& w, const Axes& axes) {
  if (w.default_us > 0) {
    svg->square({axes.x(w.default_config.splits), axes.y(w.default_us)}, 11, "default-mark");
  }
  if (w.expected_us > 0) {
    svg->circle({axes.x(w.config.splits), axes.y(w.expected_us)}, 4, "answer-mark", "");
  }
}

std::string data_table(const ReportShape& shape, bool relative) {
  HtmlTable table;
  table.column("splits", HtmlTable::Kind::kNumber);
  table.column(relative ? "relative" : "us", HtmlTable::Kind::kNumber);
  table.column("quartiles", HtmlTable::Kind::kNumber);
  table.column("n", HtmlTable::Kind::kNumber);
  table.column("config", HtmlTable::Kind::kCode);
  for (const DosePoint& point : shape.dose) {
    table.row({std::to_string(point.splits),
               time_cell(point.time_us, relative),
               times_cell(point.low_us, point.high_us, relative),
               std::to_string(point.samples),
               to_text(point.config)});
  }
  return html_details("numbers", table.html());
}

std::string panel(const ReportShape& shape, const DeviceInfo& device) {
  const db::WinnerRecord& w = shape.summary.winner;
  const Axes axes = axes_of(shape);
  const std::string heading = to_text(w.problem);
  Svg svg(kWidth, kHeight, "Time against splits, " + heading, "The numbers are listed below it.");
  draw_axes(&svg,
            kFrame,
            axes.x,
            ticks_of_powers(axes.x),
            "splits",
            axes.y,
            ticks_of_decades(axes.y),
            device.relative_times ? "relative time" : "us");
  draw_waves(&svg, device, w, axes.x);
  draw_curve(&svg, shape.dose, axes, device.relative_times);
  draw_model(&svg, shape.model, axes);
  draw_marks(&svg, w, axes);
  int64_t samples = 0;
  for (const DosePoint& point : shape.dose) samples += point.samples;
  const std::string caption =
      fmt::format("n = {} samples of {} split counts; default {}, answer {} splits.",
                  count_text(samples),
                  shape.dose.size(),
                  w.default_config.splits,
                  w.config.splits);
  return "<div class=\"panel\">\n" + html_figure(heading, svg, caption) +
         data_table(shape, device.relative_times) + "</div>\n";
}

}  // namespace

std::string dose_section(const PageDevice& page) {
  std::string panels;
  bool model = false;
  for (const ReportShape& shape : page.device.shapes) {
    if (shape.dose.empty() || shape.summary.winner.problem.seq_len == 0) continue;
    model = model || !shape.model.empty();
    panels += panel(shape, page.device.device);
  }
  if (panels.empty()) return "";
  std::string text = fmt::format(
      "Each point is the fastest configuration with that many splits (of those with three samples "
      "or "
      "more, where there are any): the median of its samples, the band their quartiles. Square: "
      "the "
      "default; filled circle: the answer, both by their final rounds. Dashed: where the "
      "workgroups "
      "of stage 1 fill the {} compute units once, twice and so on. Both axes are logarithmic.",
      page.device.device.compute_units);
  if (model) text += " Thin line: the fitted model.";
  return html_paragraph(text) + "<div class=\"figures\">\n" + panels + "</div>\n";
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
#include "tools/report/plot.h"

#include <fmt/format.h>

#include <cmath>

namespace mla::tools {
namespace {

constexpr double kLabelGapPx = 6;
constexpr double kTickPx = 4;

Tick number_tick(double value) {
  return {value, fmt::format("{:g}", value)};
}

}  // namespace

Scale::Scale(bool logarithmic, double from, double to, double from_px, double to_px)
    : logarithmic_(logarithmic), from_(from), to_(to), from_px_(from_px), to_px_(to_px) {}

// A range of one value is widened, so that the value lies in the middle.
Scale Scale::linear(double from, double to, double from_px, double to_px) {
  if (!(to > from)) return {false, from - 1, from + 1, from_px, to_px};
  return {false, from, to, from_px, to_px};
}

Scale Scale::logarithmic(double from, double to, double from_px, double to_px) {
  if (!(to > from)) return {true, from / 2, from * 2, from_px, to_px};
  return {true, from, to, from_px, to_px};
}

double Scale::operator()(double value) const {
  const double part = logarithmic_ ? std::log(value / from_) / std::log(to_ / from_)
                                   : (value - from_) / (to_ - from_);
  return from_px_ + part * (to_px_ - from_px_);
}

std::vector<Tick> ticks_of_powers(const Scale& scale) {
  std::vector<Tick> ticks;
  for (double value = std::exp2(std::ceil(std::log2(scale.from()))); value <= scale.to();
       value *= 2) {
    ticks.push_back(number_tick(value));
  }
  return ticks;
}

std::vector<Tick> ticks_of_decades(const Scale& scale) {
  const bool narrow = scale.to() < 4 * scale.from();
  std::vector<double> steps = {1, 2, 5};
  if (narrow) steps = {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9};
  std::vector<Tick> ticks;
  for (double decade = std::pow(10.0, std::floor(std::log10(scale.from()))); decade <= scale.to();
       decade *= 10) {
    for (const double step : steps) {
      if (scale.contains(step * decade)) ticks.push_back(number_tick(step * decade));
    }
  }
  return ticks;
}

std::vector<Tick> ticks_of_steps(const Scale& scale) {
  const double rough = (scale.to() - scale.from()) / 6;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * decade >= rough) step = factor * decade;
  }
  std::vector<Tick> ticks;
  for (double index = std::ceil(scale.from() / step); index * step <= scale.to(); ++index) {
    ticks.push_back(number_tick(index * step + 0.0));  // of -0 a 0
  }
  return ticks;
}

void draw_labels(Svg* svg, const Scale& x, const std::vector<Tick>& ticks, double y_px) {
  double free_px = -kLabelGapPx;  // right end of the last label
  for (const Tick& tick : ticks) {
    const double at = x(tick.value);
    const double half = text_width(tick.label) / 2;
    if (at - half < free_px + kLabelGapPx) continue;
    svg->text({at, y_px}, tick.label, Svg::Anchor::kMiddle, "label");
    free_px = at + half;
  }
}

void draw_axes(Svg* svg,
               const Frame& frame,
               const Scale& x,
               const std::vector<Tick>& x_ticks,
               const std::string& x_title,
               const Scale& y,
               const std::vector<Tick>& y_ticks,
               const std::string& y_title) {
  for (const Tick& tick : x_ticks) {
    svg->line({x(tick.value), frame.bottom}, {x(tick.value), frame.bottom + kTickPx}, "axis");
  }
  draw_labels(svg, x, x_ticks, frame.bottom + kSvgLinePx + 2);
  double free_y = frame.bottom + kSvgLinePx;  // top of the last label, going up
  for (const Tick& tick : y_ticks) {
    const double at = y(tick.value);
    svg->line({frame.left, at}, {frame.right, at}, "grid");
    if (at + kSvgLinePx / 2 > free_y) continue;
    svg->text({frame.left - kTickPx, at + kSvgFontPx / 3}, tick.label, Svg::Anchor::kEnd, "label");
    free_y = at - kSvgLinePx / 2;
  }
  svg->line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "axis");
  svg->line({frame.left, frame.top}, {frame.left, frame.bottom}, "axis");
  if (!x_title.empty()) {
    svg->text(
        {frame.right, frame.bottom + 2 * kSvgLinePx + 4}, x_title, Svg::Anchor::kEnd, "label");
  }
  svg->text({2, kSvgFontPx + 2}, y_title, Svg::Anchor::kStart, "label");
}

}  // namespace mla::tools

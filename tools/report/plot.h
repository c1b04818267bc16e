// SPDX-License-Identifier: MIT
// Axes of a drawing: scales, and ticks whose labels leave each other room.
#pragma once

#include <string>
#include <vector>

#include "tools/report/svg.h"

namespace mla::tools {

// Maps values to pixels; `to_px` may lie left of or above `from_px`.
class Scale {
 public:
  static Scale linear(double from, double to, double from_px, double to_px);
  static Scale logarithmic(double from, double to, double from_px, double to_px);

  double operator()(double value) const;
  double from() const { return from_; }
  double to() const { return to_; }
  bool contains(double value) const { return value >= from_ && value <= to_; }

 private:
  Scale(bool logarithmic, double from, double to, double from_px, double to_px);

  bool logarithmic_;
  double from_, to_, from_px_, to_px_;
};

struct Tick {
  double value = 0;
  std::string label;
};

// Powers of two within the scale.
std::vector<Tick> ticks_of_powers(const Scale& scale);
// 1, 2, 5, 10, ... within the scale; where it spans less than a factor of four, every step of a
// tenth of the decade or the half of it, so that at least two are there.
std::vector<Tick> ticks_of_decades(const Scale& scale);

// Round numbers within the scale, at most seven of them.
std::vector<Tick> ticks_of_steps(const Scale& scale);

// The inner rectangle of a plot.
struct Frame {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// Axis lines, ticks, grid and titles. Of ticks whose labels would touch, the later one is left out.
// The y title stands above the axis, the x title below its right end.
void draw_axes(Svg* svg,
               const Frame& frame,
               const Scale& x,
               const std::vector<Tick>& x_ticks,
               const std::string& x_title,
               const Scale& y,
               const std::vector<Tick>& y_ticks,
               const std::string& y_title);

// A row of labels below the axis, on the base line `y_px`; those that would touch are left out.
void draw_labels(Svg* svg, const Scale& x, const std::vector<Tick>& ticks, double y_px);

}  // namespace mla::tools

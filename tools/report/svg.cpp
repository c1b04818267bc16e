// SPDX-License-Identifier: MIT
#include "tools/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/html.h"

namespace mla::tools {
namespace {

std::string points_text(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", point.x, point.y);
  }
  return text;
}

std::string tooltip_html(const std::string& tooltip) {
  return tooltip.empty() ? "" : "<title>" + html_text(tooltip) + "</title>";
}

const char* anchor_text(Svg::Anchor anchor) {
  switch (anchor) {
    case Svg::Anchor::kStart:
      return "start";
    case Svg::Anchor::kMiddle:
      return "middle";
    case Svg::Anchor::kEnd:
      return "end";
  }
  return "start";
}

}  // namespace

Rgb mix(Rgb from, Rgb to, double part) {
  const double share = std::clamp(part, 0.0, 1.0);
  const auto channel = [share](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + share * (b - a)));
  };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

std::string hex_text(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

// By the relative luminance of WCAG 2: from 0.179 on black has the higher contrast.
bool is_light(Rgb color) {
  const auto linear = [](uint8_t channel) {
    const double share = channel / 255.0;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  const double luminance =
      0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  return luminance > 0.179;
}

Svg::Svg(double width_px,
         double height_px,
         const std::string& title,
         const std::string& description) {
  body_ = fmt::format(
      "<svg role=\"img\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<title>{2}</title><desc>{3}</desc>\n",
      width_px,
      height_px,
      html_text(title),
      html_text(description));
}

void Svg::line(Point from, Point to, const char* css_class) {
  body_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                  css_class,
                  from.x,
                  from.y,
                  to.x,
                  to.y);
}

void Svg::polyline(const std::vector<Point>& points, const char* css_class) {
  body_ += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", css_class, points_text(points));
}

void Svg::polygon(const std::vector<Point>& points, const char* css_class) {
  body_ += fmt::format("<polygon class=\"{}\" points=\"{}\"/>\n", css_class, points_text(points));
}

void Svg::rect(Point corner, double width, double height, const char* css_class) {
  body_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      css_class,
      corner.x,
      corner.y,
      width,
      height);
}

void Svg::filled_rect(
    Point corner, double width, double height, Rgb fill, const std::string& tooltip) {
  body_ += fmt::format(
      "<rect fill=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>\n",
      hex_text(fill),
      corner.x,
      corner.y,
      width,
      height,
      tooltip_html(tooltip));
}

void Svg::square(Point center, double side, const char* css_class) {
  rect({center.x - side / 2, center.y - side / 2}, side, side, css_class);
}

void Svg::circle(Point center, double radius, const char* css_class, const std::string& tooltip) {
  body_ +=
      fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n",
                  css_class,
                  center.x,
                  center.y,
                  radius,
                  tooltip_html(tooltip));
}

void Svg::text(Point at, const std::string& text, Anchor anchor, const char* css_class) {
  body_ +=
      fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                  css_class,
                  at.x,
                  at.y,
                  anchor_text(anchor),
                  html_text(text));
}

std::string Svg::html() const {
  return body_ + "</svg>\n";
}

}  // namespace mla::tools

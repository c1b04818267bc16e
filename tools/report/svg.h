// SPDX-License-Identifier: MIT
// One drawing as inline SVG. Colours come from the page's style sheet by class, so that a drawing
// follows its scheme. Text is monospaced: its width is known without asking a browser, and what is
// placed by text_width() does not overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mla::tools {

// Pixels of the drawing; a browser scales the whole.
inline constexpr double kSvgFontPx = 11;
inline constexpr double kSvgGlyphPx = 0.61 * kSvgFontPx;  // advance of the widest monospaced fonts
inline constexpr double kSvgLinePx = 14;

// Of ASCII text.
inline double text_width(const std::string& text) {
  return kSvgGlyphPx * static_cast<double>(text.size());
}

struct Point {
  double x = 0;
  double y = 0;
};

struct Rgb {
  uint8_t red = 0, green = 0, blue = 0;
};
// Between two colours, `part` of the way; clamped to [0, 1].
Rgb mix(Rgb from, Rgb to, double part);
std::string hex_text(Rgb color);
// Whether black text is easier to read on it than white.
bool is_light(Rgb color);

class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  // The description is for readers who do not see the drawing.
  Svg(double width_px, double height_px, const std::string& title, const std::string& description);

  void line(Point from, Point to, const char* css_class);
  void polyline(const std::vector<Point>& points, const char* css_class);
  // Filled, its last point joined to the first.
  void polygon(const std::vector<Point>& points, const char* css_class);
  // A tooltip may be empty.
  void rect(Point corner, double width, double height, const char* css_class);
  void filled_rect(Point corner, double width, double height, Rgb fill, const std::string& tooltip);
  void square(Point center, double side, const char* css_class);
  void circle(Point center, double radius, const char* css_class, const std::string& tooltip);
  // `at` is on the base line.
  void text(Point at, const std::string& text, Anchor anchor, const char* css_class);

  std::string html() const;

 private:
  std::string body_;
};

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Maps of batch x length, three for each kind of shape: what tuning gained, how near the time is to
// the roofline, and what the answer leaves to the fastest configuration known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/roof.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

constexpr double kCellWidth = 44;
constexpr double kCellHeight = 24;
constexpr double kLabelWidth = 44;
constexpr size_t kMaxColumns = 7;   // more do not fit a telephone
constexpr double kFullGain = 0.20;  // colours saturate here
constexpr double kFullRegret = 0.10;

constexpr Rgb kNeutral = {247, 247, 247};
constexpr Rgb kBlue = {33, 102, 172};
constexpr Rgb kOrange = {179, 88, 6};
constexpr Rgb kPale = {236, 244, 250};
constexpr Rgb kDeep = {8, 69, 136};

struct Cell {
  std::string text;
  std::string tooltip;
  Rgb fill;
  bool hatched = false;
};

// One kind of shape: every field but batch and length is the same.
struct Family {
  std::vector<const ReportShape*> shapes;
  std::set<int64_t> batches, lengths;
};

using CellOf = std::function<std::optional<Cell>(const ReportShape&)>;

std::map<std::string, Family> families_of(const ReportDevice& device) {
  std::map<std::string, Family> families;
  for (const ReportShape& shape : device.shapes) {
    const Problem& problem = shape.summary.winner.problem;
    Family& family = families[family_text(problem)];
    family.shapes.push_back(&shape);
    family.batches.insert(problem.batch);
    family.lengths.insert(problem.seq_len);
  }
  return families;
}

// Four characters where they suffice: "+3.1", "+128".
std::string short_percent(double fraction, bool sign) {
  const double percent = 100 * fraction;
  const int digits = std::abs(percent) < 99.95 ? 1 : 0;
  return sign ? fmt::format("{:+.{}f}", percent, digits) : fmt::format("{:.{}f}", percent, digits);
}

bool measured(const ReportShape& shape) {
  return shape.summary.winner.verdict != db::Verdict::kFailed;
}

bool ambiguous(const ReportShape& shape) {
  return shape.summary.winner.verdict == db::Verdict::kUndecided ||
         shape.summary.winner.status == db::WinnerStatus::kVerifyAgain;
}

std::optional<Cell> gain_cell(const ReportShape& shape) {
  if (!measured(shape)) return std::nullopt;
  const db::WinnerRecord& w = shape.summary.winner;
  const double part = std::log1p(w.gain) / std::log1p(kFullGain);
  return Cell{short_percent(w.gain, true),
              fmt::format("{}: {}, {}", to_text(w.problem), gain_text(w), verdict_text(w.verdict)),
              part >= 0 ? mix(kNeutral, kBlue, part) : mix(kNeutral, kOrange, -part),
              ambiguous(shape)};
}

std::optional<Cell> roof_cell(const ReportShape& shape, const RoofRates& rates) {
  const db::WinnerRecord& w = shape.summary.winner;
  if (!measured(shape) || !(w.expected_us > 0) || w.problem.seq_len == 0) return std::nullopt;
  const double share = roof_floor(w.problem, rates).time_us / w.expected_us;
  return Cell{short_percent(share, false),
              fmt::format("{}: {} of the read ceiling, {:.1f} us",
                          to_text(w.problem),
                          short_percent(share, false) + " %",
                          w.expected_us),
              mix(kPale, kDeep, share),
              ambiguous(shape)};
}

// Against the finalist and the neighbours' winners, all from paired rounds with the default at this
// very shape. Times relative to the default's.
double regret_of(const ReportShape& shape) {
  const db::WinnerRecord& w = shape.summary.winner;
  const double answer = 1 / (1 + w.gain);
  double fastest = std::min(answer, 1 / (1 + w.finalist_gain));
  for (const db::LossRecord& loss : shape.losses) {
    if (loss.rounds > 0) fastest = std::min(fastest, 1 + loss.loss);
  }
  return answer / fastest - 1;
}

std::optional<Cell> regret_cell(const ReportShape& shape) {
  if (!measured(shape)) return std::nullopt;
  const double regret = regret_of(shape);
  const std::string text = to_text(shape.summary.winner.problem);
  return Cell{short_percent(regret, false),
              fmt::format("{}: {} % behind the fastest known", text, short_percent(regret, false)),
              mix(kNeutral, kOrange, regret / kFullRegret),
              ambiguous(shape)};
}

std::string length_label(int64_t seq_len) {
  return seq_len == 0 ? "any" : std::to_string(seq_len);
}

void draw_cell(Svg* svg, Point corner, const Cell& cell) {
  svg->filled_rect(corner, kCellWidth - 1, kCellHeight - 1, cell.fill, cell.tooltip);
  if (cell.hatched) svg->rect(corner, kCellWidth - 1, kCellHeight - 1, "hatch");
  svg->text({corner.x + kCellWidth / 2, corner.y + kCellHeight / 2 + kSvgFontPx / 3},
            cell.text,
            Svg::Anchor::kMiddle,
            is_light(cell.fill) ? "on-light" : "on-dark");
}

Svg draw_map(const Family& family,
             const std::vector<int64_t>& lengths,
             const std::string& title,
             const CellOf& cell_of) {
  const double top = 2 * kSvgLinePx + 4;
  const double width = kLabelWidth + kCellWidth * static_cast<double>(lengths.size());
  const double height = top + kCellHeight * static_cast<double>(family.batches.size());
  const std::string axes = "batch down, seq_len across";
  Svg svg(std::max(width, text_width(axes)),
          height,
          title,
          "A map; the table of every shape has its numbers.");
  svg.text({0, kSvgFontPx}, axes, Svg::Anchor::kStart, "label");
  const auto x_of = [&](int64_t seq_len) {
    const auto place = std::find(lengths.begin(), lengths.end(), seq_len);
    return kLabelWidth + kCellWidth * static_cast<double>(place - lengths.begin());
  };
  const auto y_of = [&](int64_t batch) {
    const auto row = std::distance(family.batches.begin(), family.batches.find(batch));
    return top + kCellHeight * static_cast<double>(row);
  };
  for (const int64_t length : lengths) {
    svg.text({x_of(length) + kCellWidth / 2, top - 4},
             length_label(length),
             Svg::Anchor::kMiddle,
             "label");
  }
  for (const int64_t batch : family.batches) {
    svg.text({kLabelWidth - 6, y_of(batch) + kCellHeight / 2 + kSvgFontPx / 3},
             std::to_string(batch),
             Svg::Anchor::kEnd,
             "label");
  }
  for (const ReportShape* shape : family.shapes) {
    const Problem& problem = shape->summary.winner.problem;
    if (std::find(lengths.begin(), lengths.end(), problem.seq_len) == lengths.end()) continue;
    const std::optional<Cell> cell = cell_of(*shape);
    if (cell) draw_cell(&svg, {x_of(problem.seq_len), y_of(problem.batch)}, *cell);
  }
  return svg;
}

// A map a block of lengths.
std::string map_figures(const Family& family,
                        const std::string& heading,
                        const std::string& caption,
                        const CellOf& cell_of) {
  const std::vector<int64_t> all(family.lengths.begin(), family.lengths.end());
  std::string html;
  for (size_t first = 0; first < all.size(); first += kMaxColumns) {
    const size_t last = std::min(all.size(), first + kMaxColumns);
    const std::vector<int64_t> lengths(all.begin() + static_cast<std::ptrdiff_t>(first),
                                       all.begin() + static_cast<std::ptrdiff_t>(last));
    html += html_figure(heading, draw_map(family, lengths, heading, cell_of), caption);
  }
  return html;
}

std::string family_maps(const std::string& name, const Family& family, const PageDevice& page) {
  int64_t rounds = 0;
  for (const ReportShape* shape : family.shapes) rounds += shape->summary.winner.rounds;
  const std::string n =
      fmt::format("n = {} shapes, {} paired rounds.", family.shapes.size(), rounds);
  std::string maps = map_figures(
      family,
      "Gain over the default, %",
      n + " Median over the rounds of default / answer - 1, intervals in the table below. Blue: "
          "faster; orange: slower; full colour at 20 %.",
      gain_cell);
  if (page.rates.read_gb_s > 0) {
    const std::string ceiling =
        page.options.read_gb_s > 0
            ? fmt::format("{:.0f} GB/s", page.rates.read_gb_s)
            : fmt::format("{:.0f} GB/s, the fastest read of this report", page.rates.read_gb_s);
    maps += map_figures(
        family,
        "Per cent of the roofline",
        n + fmt::format(" Time of reading every row once at {} over the answer's median time; the "
                        "darker, the nearer.",
                        ceiling),
        [&page](const ReportShape& shape) { return roof_cell(shape, page.rates); });
  }
  maps += map_figures(
      family,
      "Regret of the answer, %",
      n + " Answer's time over that of the fastest of finalist and neighbours' winners - 1, by the "
          "medians of rounds paired with the default; full colour at 10 %.",
      regret_cell);
  return fmt::format("<h4>{}</h4>\n<div class=\"figures\">\n{}</div>\n", html_text(name), maps);
}

}  // namespace

std::string heat_section(const PageDevice& page) {
  std::string html = html_paragraph(
      "Hatched: undecided after all rounds, or to be verified again. Empty: not tuned. Shapes that "
      "were not tuned are measured by mla-tune evaluate.");
  for (const auto& [name, family] : families_of(page.device)) {
    html += family_maps(name, family, page);
  }
  return html;
}

}  // namespace mla::tools

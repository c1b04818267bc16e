// SPDX-License-Identifier: MIT
#include "tools/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/options.h"
#include "tools/report/html.h"
#include "tools/roof.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

using Section = std::string (*)(const PageDevice&);

struct SectionEntry {
  const char* id;
  const char* title;
  Section html;
};

constexpr SectionEntry kSections[] = {
    {"answer", "Answer", answer_section},
    {"conditions", "Device and conditions", conditions_section},
    {"maps", "Gain, roofline and regret by batch and length", heat_section},
    {"dose", "Time against splits", dose_section},
    {"levers", "What each lever is worth", lever_section},
    {"convergence", "How soon the search was done", convergence_section},
    {"knobs", "What each knob costs when it is held", knob_section},
    {"changes", "Changes since the older database", change_section},
    {"failures", "Failures", failure_section},
    {"quality", "Measurement quality", quality_section},
    {"table", "Every shape", table_section},
};

// Without a network there is nothing to fetch, and a name from a database can run nothing.
constexpr const char* kHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n";

// The pattern of ambiguous cells, once for all drawings.
constexpr const char* kHatch =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" style=\"position:absolute\"><defs>"
    "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#000000\" "
    "stroke-opacity=\"0.35\" stroke-width=\"1.2\"/></pattern></defs></svg>\n";

// The rate of the shape that reads its rows fastest: below the ceiling, and all that a database
// knows of it.
double fastest_read_gb_s(const ReportDevice& device) {
  double fastest = 0;
  for (const ReportShape& shape : device.shapes) {
    const db::WinnerRecord& w = shape.summary.winner;
    if (w.expected_us > 0 && w.problem.seq_len > 0) {
      fastest = std::max(fastest, min_kv_bytes(w.problem) / w.expected_us * 1e-3);
    }
  }
  return fastest;
}

RoofRates rates_of(const ReportDevice& device, const PageOptions& options) {
  RoofRates rates;
  if (device.device.relative_times) return rates;
  rates.read_gb_s = options.read_gb_s > 0 ? options.read_gb_s : fastest_read_gb_s(device);
  return rates;
}

std::string device_html(const PageDevice& page, size_t index) {
  std::string links, sections;
  for (const SectionEntry& entry : kSections) {
    const std::string html = entry.html(page);
    if (html.empty()) continue;
    const std::string id = fmt::format("{}-{}", entry.id, index);
    links += fmt::format("<a href=\"#{}\">{}</a>\n", id, html_text(entry.title));
    sections += fmt::format(
        "<section id=\"{}\">\n<h3>{}</h3>\n{}</section>\n", id, html_text(entry.title), html);
  }
  const DeviceInfo& info = page.device.device;
  return fmt::format("<article>\n<h2>{} <small>{}</small></h2>\n<nav>\n{}</nav>\n{}</article>\n",
                     html_text(info.name),
                     html_text(device_key(info)),
                     links,
                     sections);
}

std::string data_links(const PageOptions& options) {
  std::string links;
  for (const std::string& file : {options.csv_file, options.json_file}) {
    if (file.empty()) continue;
    links +=
        fmt::format(" <a href=\"{}\">{}</a>", html_text(html_relative_url(file)), html_text(file));
  }
  return links.empty() ? "" : "<p>The same data:" + links + "</p>\n";
}

}  // namespace

std::string html_figure(const std::string& heading, const Svg& svg, const std::string& caption) {
  return fmt::format("<figure>\n<h4>{}</h4>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                     html_text(heading),
                     svg.html(),
                     html_text(caption));
}

std::string family_text(const Problem& problem) {
  std::string text;
  for (const std::string& word : split(to_text(problem), ' ')) {
    if (word.rfind("batch=", 0) == 0 || word.rfind("seq_len=", 0) == 0) continue;
    text += text.empty() ? word : " " + word;
  }
  return text;
}

std::string report_html(const ReportData& report,
                        const std::vector<std::vector<Evidence>>& evidence,
                        const PageOptions& options) {
  std::string text = kHead;
  text += "<title>Tuning report</title>\n<style>\n" + std::string(kPageStyle) +
          "</style>\n</head>\n<body>\n" + kHatch + "<main>\n<h1>Tuning report</h1>\n";
  text += html_paragraph(fmt::format("Database {} ({}), {} samples in {} rounds.",
                                     report.database.path,
                                     report.database.database_id,
                                     count_text(report.database.samples),
                                     count_text(report.database.rounds)));
  text += data_links(options);
  if (report.devices.empty()) text += html_paragraph("No finished shape yet.");
  for (size_t i = 0; i < report.devices.size(); ++i) {
    const ReportDevice& device = report.devices[i];
    text += device_html({device, evidence.at(i), rates_of(device, options), options}, i + 1);
  }
  return text + "</main>\n</body>\n</html>\n";
}

}  // namespace mla::tools

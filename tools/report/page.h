// SPDX-License-Identifier: MIT
// The HTML report: one static page, readable without scripts and without a network, light and dark,
// on a screen and on paper. Each section is a function of one device's results in a file of its
// own; numbers come from report_data.h, evidence.h and compare_databases.h.
#pragma once

#include <string>
#include <vector>

#include "kernels/roofs.h"
#include "tools/compare_databases.h"
#include "tools/report/evidence.h"
#include "tools/report/levers.h"
#include "tools/report/svg.h"
#include "tools/report_data.h"

namespace mla::tools {

struct PageOptions {
  double read_gb_s = 0;             // read ceiling of the devices; 0: the fastest read of each
  std::string csv_file, json_file;  // names beside the page; empty: no link
  std::vector<SweptLever> swept;    // of sweeps that were given
  const DatabaseChanges* changes = nullptr;  // against an older database
};

struct PageDevice {
  const ReportDevice& device;
  std::vector<Evidence> evidence;  // [i] of device.shapes[i]
  RoofRates rates;                 // only the read rate; 0: times say nothing of it
  const PageOptions& options;
};

// `evidence`: [device][shape], as in the report.
std::string report_html(const ReportData& report,
                        const std::vector<std::vector<Evidence>>& evidence,
                        const PageOptions& options);

// The sections of a device, in the order of the page; empty where there is nothing to say.
std::string conditions_section(const PageDevice& page);
std::string answer_section(const PageDevice& page);
std::string heat_section(const PageDevice& page);
std::string dose_section(const PageDevice& page);
std::string lever_section(const PageDevice& page);
std::string convergence_section(const PageDevice& page);
std::string knob_section(const PageDevice& page);
std::string change_section(const PageDevice& page);
std::string failure_section(const PageDevice& page);
std::string quality_section(const PageDevice& page);
std::string table_section(const PageDevice& page);

// A drawing between its heading and its caption.
std::string html_figure(const std::string& heading, const Svg& svg, const std::string& caption);

// Fields of a problem apart from batch and length: "nhead=12 page_size=64".
std::string family_text(const Problem& problem);

extern const char* const kPageStyle;

}  // namespace mla::tools

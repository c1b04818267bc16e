// SPDX-License-Identifier: MIT
// `mla-tune report`: what a database holds, as Markdown, CSV, JSON or a page.
#include <filesystem>
#include <optional>

#include "db/store.h"
#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/json.h"
#include "tools/paths.h"
#include "tools/report/page.h"
#include "tools/report_data.h"

namespace mla::tools {
namespace {

std::vector<std::vector<Evidence>> evidence_of(const db::Store& store, const ReportData& report) {
  std::vector<std::vector<Evidence>> evidence;
  for (const ReportDevice& device : report.devices) {
    evidence.emplace_back();
    for (const ReportShape& shape : device.shapes) {
      evidence.back().push_back(
          gather_evidence(store.load_rounds(shape.summary.tuning_id), shape.summary.winner));
    }
  }
  return evidence;
}

// The page, and its data beside it under the same name.
void write_page(const Options& options, const db::Store& store, const ReportData& report) {
  const std::filesystem::path page(options.html);
  const auto beside = [&](const char* ending) {
    return std::filesystem::path(page).replace_extension(ending);
  };
  if (page.extension() == ".csv" || page.extension() == ".json") {
    throw Error(ErrorCode::kUsage, "--html: the page needs another ending than its data have");
  }
  PageOptions of_page;
  of_page.read_gb_s = options.read_gb_s;
  of_page.csv_file = beside(".csv").filename().string();
  of_page.json_file = beside(".json").filename().string();
  for (const std::string& file : options.from) {
    const std::vector<SweptLever> swept = read_swept_levers(read_file(file), file);
    of_page.swept.insert(of_page.swept.end(), swept.begin(), swept.end());
  }
  std::optional<DatabaseChanges> changes;
  if (!options.against.empty()) {
    changes = compare_databases(db::Store::open(options.against, db::OpenMode::kReadOnly), store);
    of_page.changes = &*changes;
  }
  write_file(options.html, report_html(report, evidence_of(store, report), of_page));
  write_file(beside(".csv").string(), report_csv(report));
  write_file(beside(".json").string(), report_json(report) + "\n");
}

void refuse(bool given, const char* option) {
  if (given) throw Error(ErrorCode::kUsage, std::string(option) + ": only with --html");
}

}  // namespace

int cmd_report(const Options& options) {
  const bool page = !options.html.empty();
  if (page && !(options.format.empty() && options.output.empty())) {
    throw Error(ErrorCode::kUsage, "--html: takes neither --format nor --output");
  }
  refuse(!page && !options.against.empty(), "--against");
  refuse(!page && !options.from.empty(), "--from");
  refuse(!page && options.read_gb_s > 0, "--read-gb-s");
  const std::string path = own_database(options.databases);
  const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
  const ReportData report = gather_report(store);
  const std::string written = page ? options.html : options.output;
  if (page) {
    write_page(options, store, report);
  } else {
    const std::string text = options.format == "csv"    ? report_csv(report)
                             : options.format == "json" ? report_json(report) + "\n"
                                                        : report_markdown(report);
    write_result(written, text);
    if (is_standard_output(written)) return kDone;
  }
  if (!options.quiet) say(stderr, "mla-tune report: wrote " + written + "\n");
  return kDone;
}

}  // namespace mla::tools

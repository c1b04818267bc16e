// SPDX-License-Identifier: MIT
// `mla-tune report`: what a database holds, as Markdown, CSV or JSON.
#include <fmt/format.h>

#include "db/store.h"
#include "tools/commands.h"
#include "tools/json.h"
#include "tools/paths.h"
#include "tools/report_data.h"

namespace mla::tools {

int cmd_report(const Options& options) {
  const std::string path = own_database(options.databases);
  const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
  const ReportData report = gather_report(store);
  const std::string text = options.format == "csv"    ? report_csv(report)
                           : options.format == "json" ? report_json(report) + "\n"
                                                      : report_markdown(report);
  if (options.output.empty() || options.output == "-") {
    fmt::print("{}", text);
    return kDone;
  }
  write_file(options.output, text);
  if (!options.quiet) say(stderr, "mla-tune report: wrote " + options.output + "\n");
  return kDone;
}

}  // namespace mla::tools

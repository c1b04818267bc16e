// SPDX-License-Identifier: MIT
// `mla-tune db info` and `mla-tune db check`.
#include <fmt/format.h>

#include <algorithm>

#include "db/store.h"
#include "tools/commands.h"
#include "tools/json.h"
#include "tools/paths.h"

namespace mla::tools {
namespace {

std::string info_text(const db::DatabaseInfo& info) {
  const std::pair<const char*, int64_t> counts[] = {{"devices", info.devices},
                                                    {"problems", info.problems},
                                                    {"candidates", info.candidates},
                                                    {"runs", info.runs},
                                                    {"tunings", info.tunings},
                                                    {"unfinished", info.tunings_open},
                                                    {"rounds", info.rounds},
                                                    {"samples", info.samples},
                                                    {"outcomes", info.outcomes},
                                                    {"winners", info.winners}};
  std::string text = fmt::format("path        {}\nid          {}\nschema      {}\n",
                                 info.path,
                                 info.database_id,
                                 info.schema_version);
  text += fmt::format("journal     {}\nsize        {}\n",
                      info.journal_mode,
                      bytes_text(static_cast<double>(info.file_bytes)));
  for (const auto& [title, count] : counts) {
    text += fmt::format("{:<11} {}\n", title, count_text(count));
  }
  return text;
}

int check(const Options& options, const db::Store& store) {
  const std::vector<db::Store::CheckRow> rows = store.check();
  const bool ok =
      std::all_of(rows.begin(), rows.end(), [](const db::Store::CheckRow& row) { return row.ok; });
  if (options.json) {
    fmt::print("{}\n", db_check_json(store.path(), rows));
  } else {
    const Terminal terminal = inspect(stdout, options.color);
    Table table;
    table.column("result");
    table.column("check");
    table.column("detail");
    for (const db::Store::CheckRow& row : rows) {
      table.row({row.ok ? "ok" : "DAMAGED", row.check, row.detail},
                row.ok ? Style::kPlain : Style::kBad);
    }
    fmt::print("{}{}: {}\n", table.text(terminal), store.path(), ok ? "sound" : "damaged");
  }
  return ok ? kDone : kNegativeAnswer;
}

}  // namespace

int cmd_db(const Options& options) {
  const db::Store store = db::Store::open(own_database(options.databases), db::OpenMode::kReadOnly);
  if (options.action == "check") return check(options, store);
  const db::DatabaseInfo info = store.info();
  if (options.json) {
    fmt::print("{}\n", db_info_json(info));
  } else {
    fmt::print("{}", info_text(info));
  }
  return kDone;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// `mla-tune db ACTION`.
#include <fmt/format.h>

#include <algorithm>

#include "db/merge.h"
#include "db/prune.h"
#include "db/ship.h"
#include "db/store.h"
#include "db/winner_text.h"
#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/db_reach.h"
#include "tools/json.h"
#include "tools/matched_shapes.h"
#include "tools/misses.h"
#include "tools/overlay.h"
#include "tools/paths.h"
#include "tools/target.h"

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
  for (const auto& [title, fact] : {std::pair{"parents", info.parents},
                                    std::pair{"shipped", info.shipped_utc},
                                    std::pair{"shipped by", info.shipped_by},
                                    std::pair{"content", info.content_sha256}}) {
    if (!fact.empty()) text += fmt::format("{:<11} {}\n", title, fact);
  }
  return text;
}

Error usage(const std::string& text) {
  return Error(ErrorCode::kUsage, text);
}

// Where the action has no use for an option, it is a mistake and not ignored.
void refuse(bool given, const Options& options, const char* option) {
  if (given) throw usage(fmt::format("{}: takes no {}", options.action, option));
}

int check(const Options& options) {
  const db::Store store = db::Store::open(own_database(options.databases), db::OpenMode::kReadOnly);
  const std::vector<db::Store::CheckRow> rows = store.check();
  const bool ok =
      std::all_of(rows.begin(), rows.end(), [](const db::Store::CheckRow& row) { return row.ok; });
  const Reach reached = ok ? reach(store, space_of(device_spec(options.device))) : Reach{};
  if (options.json) {
    fmt::print("{}\n", db_check_json(store.path(), rows, reached));
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
    if (ok) fmt::print("\n{}", reach_text(reached, options.verbose, terminal));
  }
  return ok ? kDone : kNegativeAnswer;
}

int info(const Options& options) {
  const std::vector<std::string> paths = database_paths(options.databases);
  if (paths.size() == 1) {
    const db::DatabaseInfo info = db::Store::open(paths[0], db::OpenMode::kReadOnly).info();
    fmt::print("{}", options.json ? db_info_json(info) + "\n" : info_text(info));
    return kDone;
  }
  const Overlay files = overlay(paths);
  for (const std::string& warning : files.warnings) {
    if (!options.quiet) say_wrapped(stderr, "mla-tune db: warning: " + warning + "\n");
  }
  fmt::print("{}",
             options.json ? overlay_json(files) + "\n"
                          : overlay_text(files, options.verbose, inspect(stdout, options.color)));
  return kDone;
}

int ship(const Options& options) {
  if (is_standard_output(options.output)) throw usage("ship: needs --output FILE");
  const std::string source = own_database(options.databases);
  const db::Shipped shipped = db::ship(source, options.output, "mla-tune " MLA_TUNE_VERSION);
  fmt::print("{}: {} winners, {}, content {}\n",
             options.output,
             count_text(shipped.winners),
             bytes_text(static_cast<double>(shipped.file_bytes)),
             shipped.content_sha256);
  return kDone;
}

int export_text(const Options& options) {
  const db::Store store = db::Store::open(own_database(options.databases), db::OpenMode::kReadOnly);
  write_result(options.output, db::export_winners(store));
  return kDone;
}

int import_text(const Options& options) {
  if (options.from.empty()) throw usage("import: needs --from FILE");
  const std::string database = own_database(options.databases);
  for (const std::string& name : options.from) {
    const db::Imported imported = db::import_winners(read_file(name), name, database);
    fmt::print("{}: {} winners added to {}, {} were there\n",
               name,
               count_text(imported.added),
               database,
               count_text(imported.unchanged));
  }
  return kDone;
}

int merge(const Options& options) {
  if (options.from.empty()) throw usage("merge: needs --from FILE");
  const std::string database = own_database(options.databases);
  for (const std::string& source : options.from) {
    const db::Merged merged = db::merge(source, database);
    fmt::print(
        "{}: {} tunings added to {}, {} were there; of shapes answered by both {} pooled, {} "
        "agree, "
        "{} to be verified again\n",
        source,
        count_text(merged.tunings_added),
        database,
        count_text(merged.tunings_known),
        count_text(merged.pooled),
        count_text(merged.agreed),
        count_text(merged.disagree));
  }
  return kDone;
}

int diff(const Options& options) {
  if (options.databases.size() != 2) throw usage("diff: needs --db BEFORE --db AFTER");
  const auto open = [&](size_t i) {
    return db::Store::open(options.databases[i], db::OpenMode::kReadOnly);
  };
  const std::vector<Difference> found = differences(open(0), open(1));
  fmt::print("{}", differences_text(found));
  return found.empty() ? kDone : kNegativeAnswer;
}

int prune(const Options& options) {
  const db::Pruned pruned = db::prune(own_database(options.databases), options.dry_run);
  fmt::print("{}: {} tunings, {} winners, {} rounds, {} samples; {}, then {}\n",
             options.dry_run ? "would be removed" : "removed",
             count_text(pruned.tunings),
             count_text(pruned.winners),
             count_text(pruned.rounds),
             count_text(pruned.samples),
             bytes_text(static_cast<double>(pruned.bytes_before)),
             bytes_text(static_cast<double>(pruned.bytes_after)));
  return kDone;
}

// Opening for writing is what migrates.
int migrate(const Options& options) {
  const std::string database = own_database(options.databases);
  if (!exists(database))
    throw Error(ErrorCode::kDatabase, database + ": does not exist; mla-tune run makes one");
  const db::Store store = db::Store::open(database, db::OpenMode::kReadWrite);
  fmt::print("{}: schema {}\n", database, store.info().schema_version);
  return kDone;
}

int miss(const Options& options) {
  if (options.from.empty()) throw usage("miss: needs --from FILE");
  MissReader reader;
  for (const std::string& name : options.from) reader.add(read_file(name), name);
  const Misses misses = reader.result();
  if (!options.output.empty()) write_result(options.output, shapes_text(misses));
  if (options.output != "-") fmt::print("{}", misses_table(misses, inspect(stdout, options.color)));
  return kDone;
}

struct Action {
  const char* name;
  int (*run)(const Options& options);
  bool reads_files, writes_output, has_json;
};
constexpr Action kActions[] = {{"info", info, false, false, true},
                               {"check", check, false, false, true},
                               {"ship", ship, false, true, false},
                               {"export", export_text, false, true, false},
                               {"import", import_text, true, false, false},
                               {"merge", merge, true, false, false},
                               {"diff", diff, false, false, false},
                               {"prune", prune, false, false, false},
                               {"migrate", migrate, false, false, false},
                               {"miss", miss, true, true, false}};

}  // namespace

int cmd_db(const Options& options) {
  for (const Action& action : kActions) {
    if (options.action != action.name) continue;
    refuse(!options.from.empty() && !action.reads_files, options, "--from");
    refuse(!options.output.empty() && !action.writes_output, options, "--output");
    refuse(options.json && !action.has_json, options, "--json");
    refuse(!options.device.empty() && options.action != "check", options, "--device");
    refuse(options.dry_run && options.action != "prune", options, "--dry-run");
    return action.run(options);
  }
  throw Error(ErrorCode::kInternal, "db action without a function");
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Whether the databases are sound, can be written, and hold anything for this device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "db/snapshot.h"
#include "db/store.h"
#include "kernels/error.h"
#include "tools/doctor/finding.h"
#include "tools/paths.h"

namespace mla::tools {
namespace {

constexpr const char* kDatabases = "databases";

// A file that does not exist yet is made with its folders: the nearest one that exists decides.
Finding writable(const std::string& database) {
  std::filesystem::path path = std::filesystem::absolute(database);
  while (!exists(path.string()) && path.has_relative_path()) path = path.parent_path();
  const bool ok = access(path.c_str(), W_OK) == 0;
  return {"permissions",
          "database",
          ok ? Health::kOk : Health::kWarning,
          fmt::format("{} may {}be written", path.string(), ok ? "" : "not "),
          ok ? "" : "winners cannot be kept there: name another file with --db or MLA_TUNE_DB"};
}

Finding integrity(const db::Store& store, const db::DatabaseInfo& info) {
  const std::vector<db::Store::CheckRow> rows = store.check();
  const auto damaged = std::find_if(
      rows.begin(), rows.end(), [](const db::Store::CheckRow& row) { return !row.ok; });
  const std::string what = fmt::format("schema {}, {}, {} winners, {} rounds",
                                       info.schema_version,
                                       bytes_text(static_cast<double>(info.file_bytes)),
                                       count_text(info.winners),
                                       count_text(info.rounds));
  if (damaged == rows.end()) return {kDatabases, info.path, Health::kOk, "sound; " + what};
  return {kDatabases,
          info.path,
          Health::kProblem,
          fmt::format("damaged: {}: {}", damaged->check, damaged->detail),
          "see all of it with: mla-tune db check --db " + shell_quoted({info.path})};
}

Finding reachable(const std::string& path, const Space& space, const db::Environment& environment) {
  int64_t stale = 0;
  const db::SnapshotLoad load = db::load_snapshot(
      path,
      space,
      {.row = [&](const db::SnapshotRow& row) { stale += row.verify_again ? 1 : 0; }},
      &environment);
  std::string value =
      fmt::format("{} for {}", count_text(load.rows_used), device_key(space.device()));
  for (const auto& [count, what] : {std::pair{stale, "of them to be verified again"},
                                    std::pair{load.rows_other_device, "of other devices"},
                                    std::pair{load.rows_skipped, "unusable"}}) {
    if (count > 0) value += fmt::format(", {} {}", count_text(count), what);
  }
  Finding finding = {kDatabases, "reachable rows", Health::kOk, value};
  if (load.rows_skipped > 0) {
    finding.health = Health::kWarning;
    finding.advice = "unusable: " + load.reasons.front();
  } else if (load.rows_used == 0 && load.rows_other_device > 0) {
    finding.health = Health::kWarning;
    finding.advice = "nothing in this file answers here: tune this device with mla-tune run";
  } else if (stale > 0) {
    finding.health = Health::kNote;
    finding.advice =
        "they answer; renew them with: mla-tune verify --stale --db " + shell_quoted({path});
  }
  return finding;
}

Findings of_file(const std::string& path,
                 const std::optional<Space>& space,
                 const db::Environment& environment) {
  if (!exists(path)) {
    return {{kDatabases,
             path,
             Health::kNote,
             "does not exist: every answer is the default",
             "mla-tune run makes it"}};
  }
  try {
    const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
    Findings findings = {integrity(store, store.info())};
    if (space) findings.push_back(reachable(path, *space, environment));
    return findings;
  } catch (const Error& error) {
    return {{kDatabases, path, Health::kProblem, error.what(), "until then the default answers"}};
  }
}

}  // namespace

Findings database_findings(const Options& options,
                           const std::optional<Space>& space,
                           const db::Environment& environment) {
  const std::vector<std::string> paths = database_paths(options.databases);
  Findings findings = {writable(paths.back())};
  for (const std::string& path : paths) {
    const Findings file = of_file(path, space, environment);
    findings.insert(findings.end(), file.begin(), file.end());
  }
  return findings;
}

}  // namespace mla::tools

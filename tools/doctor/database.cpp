// SPDX-License-Identifier: MIT
// Whether the databases are sound, can be written, and hold anything for this device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "db/store.h"
#include "kernels/error.h"
#include "tools/db_reach.h"
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

Finding reachable(const db::Store& store, const Space& space) {
  const Reach found = reach(store, space);
  Finding finding = {kDatabases,
                     "reachable rows",
                     Health::kOk,
                     fmt::format("{} for {}", count_text(found.answers), found.device)};
  const auto unreachable = static_cast<int64_t>(found.unreachable.size());
  for (const auto& [count, what] : {std::pair{found.verify_again, "of them to be verified again"},
                                    std::pair{unreachable, "unreachable"}}) {
    if (count > 0) finding.value += fmt::format(", {} {}", count_text(count), what);
  }
  if (found.answers == 0 && unreachable > 0) {
    finding.health = Health::kWarning;
    finding.advice =
        "nothing in this file answers here, see mla-tune db check; tune this device "
        "with mla-tune run";
  } else if (found.verify_again > 0) {
    finding.health = Health::kNote;
    finding.advice = "they answer; renew them with: mla-tune verify --stale --db " +
                     shell_quoted({store.path()});
  }
  return finding;
}

Findings of_file(const std::string& path, const std::optional<Space>& space) {
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
    if (space) findings.push_back(reachable(store, *space));
    return findings;
  } catch (const Error& error) {
    return {{kDatabases, path, Health::kProblem, error.what(), "until then the default answers"}};
  }
}

}  // namespace

Findings database_findings(const Options& options, const std::optional<Space>& space) {
  const std::vector<std::string> paths = database_paths(options.databases);
  Findings findings = {writable(written_database(options.databases))};
  for (const std::string& path : paths) {
    const Findings file = of_file(path, space);
    findings.insert(findings.end(), file.begin(), file.end());
  }
  return findings;
}

}  // namespace mla::tools

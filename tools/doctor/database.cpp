// SPDX-License-Identifier: MIT
// Whether the databases are sound, can be written, and hold anything for this device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "db/store.h"
#include "kernels/error.h"
#include "policy/default_files.h"
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

Finding reachable(const std::string& path, const Reach& found) {
  Finding finding = {kDatabases,
                     "reachable rows of " + path,
                     Health::kOk,
                     fmt::format("{} for {}", count_text(found.answers), found.device)};
  const auto unreachable = static_cast<int64_t>(found.unreachable.size());
  for (const auto& [count, what] : {std::pair{found.verify_again, "of them to be verified again"},
                                    std::pair{unreachable, "unreachable"}}) {
    if (count > 0) finding.value += fmt::format(", {} {}", count_text(count), what);
  }
  if (found.answers == 0 && unreachable > 0) {
    finding.health = Health::kNote;
    finding.advice =
        "nothing in this file answers here; why: mla-tune db check --db " + shell_quoted({path});
  } else if (found.verify_again > 0) {
    finding.health = Health::kNote;
    finding.advice =
        "they answer; renew them with: mla-tune verify --stale --db " + shell_quoted({path});
  }
  return finding;
}

// What a list of files holds for the device.
struct Rows {
  int64_t answers = 0;
  bool tuned_elsewhere = false;  // a file of the user's own; the system's are for any machine
};

bool is_system_file(const std::string& path) {
  const std::vector<std::string> files = policy::system_databases();
  return std::find(files.begin(), files.end(), path) != files.end();
}

Findings of_file(const std::string& path, const std::optional<Space>& space, Rows* rows) {
  if (!exists(path)) {
    return {{kDatabases,
             path,
             Health::kNote,
             "does not exist yet; the files before it answer, else the default",
             "mla-tune run makes it"}};
  }
  try {
    const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
    Findings findings = {integrity(store, store.info())};
    if (!space) return findings;
    const Reach found = reach(store, *space);
    findings.push_back(reachable(path, found));
    rows->answers += found.answers;
    rows->tuned_elsewhere |= !found.unreachable.empty() && !is_system_file(path);
    return findings;
  } catch (const Error& error) {
    return {{kDatabases, path, Health::kProblem, error.what(), "until then the default answers"}};
  }
}

}  // namespace

Findings database_findings(const Options& options, const std::optional<Space>& space) {
  Findings findings = {writable(written_database(options.databases))};
  Rows rows;
  for (const std::string& path : database_paths(options.databases)) {
    const Findings file = of_file(path, space, &rows);
    findings.insert(findings.end(), file.begin(), file.end());
  }
  if (rows.answers == 0 && rows.tuned_elsewhere) {
    findings.push_back({kDatabases,
                        "answers",
                        Health::kWarning,
                        "no row of these files answers on this device",
                        "tune it with mla-tune run"});
  }
  return findings;
}

}  // namespace mla::tools

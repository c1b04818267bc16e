// SPDX-License-Identifier: MIT
#include "db/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdio>
#include <filesystem>

#include "db/seal.h"
#include "kernels/error.h"

namespace mla::db {
namespace {

std::string version_text(int32_t version) {
  return "schema " + std::to_string(version);
}

bool is_new(Connection& c) {
  return c.integer("PRAGMA application_id") == 0 && c.integer("PRAGMA user_version") == 0 &&
         c.integer("SELECT count(*) FROM sqlite_schema") == 0;
}

// Throws for a file that is not ours or that a newer program wrote. Returns its schema version.
int32_t known_version(Connection& c, int32_t newest) {
  const int64_t application = c.integer("PRAGMA application_id");
  if (application != kApplicationId) {
    char text[96];
    std::snprintf(
        text,
        sizeof text,
        "is not a tuning database but a file of another application (application_id 0x%08X)",
        static_cast<unsigned>(application));
    c.fail(text);
  }
  const int64_t version = c.integer("PRAGMA user_version");
  if (version < 1) c.fail("is damaged: its schema version is " + std::to_string(version));
  if (version > newest) {
    c.fail("has schema " + std::to_string(version) + ", newer than " + version_text(newest) +
           " of this program: use a newer mla-tune");
  }
  return static_cast<int32_t>(version);
}

// Only tables are read. A view or a virtual table (which has no root page) under one of these names
// runs code of the file's author.
void require_tables(Connection& c) {
  const int64_t tables = c.integer(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name IN "
      "('meta', 'device', 'environment', 'run', 'problem', 'candidate', 'tuning', 'round', "
      "'sample', "
      "'outcome', 'winner', 'loss')");
  if (tables != 12) c.fail("is damaged: it lacks tables of its schema");
}

void create(Connection& c, int32_t version) {
  c.execute(kSchemaSql);
  c.execute(kViewsSql);
  c.execute(
      "INSERT INTO meta (key, value) VALUES"
      " ('database_id', lower(hex(randomblob(16)))),"
      " ('created_utc', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))");
  c.execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  c.execute("PRAGMA user_version = " + std::to_string(version));
}

// A second connection copies while the first holds the write lock, so that nothing is written
// between the copy and the migration. An older backup of the same schema is replaced: rows are only
// ever added.
void back_up(const std::string& path, int32_t version) {
  const std::string target = path + ".schema" + std::to_string(version) + ".backup";
  const std::string partial = target + ".partial";
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  Connection source(path, OpenMode::kReadOnly);
  source.outside_transaction([&] {
    SQLite::Statement& copy = source.statement("VACUUM INTO ?1");
    copy.bind(1, partial);
    copy.exec();
  });
  std::error_code error;
  std::filesystem::rename(partial, target, error);
  if (error) source.fail("cannot be backed up as " + target + ": " + error.message());
}

void migrate(Connection& c, int32_t from, int32_t to, std::span<const Migration> steps) {
  back_up(c.path(), from);
  for (const char* view : {"v_best", "v_regressions", "v_failures", "v_losses"})
    c.execute(std::string("DROP VIEW IF EXISTS ") + view);
  int32_t version = from;
  for (const Migration& step : steps) {
    if (step.from != version || version >= to) continue;
    c.execute(step.sql);
    ++version;
  }
  if (version != to) {
    throw Error(ErrorCode::kInternal, "no migration from " + version_text(version));
  }
  if (c.integer("SELECT count(*) FROM pragma_foreign_key_check") > 0)
    c.fail("is damaged: rows that others refer to are missing");
  c.execute(kViewsSql);
  c.execute("PRAGMA user_version = " + std::to_string(version));
}

// A shipped file that is written again is no longer what was shipped.
void break_seal(Connection& c) {
  const std::string of_sealed =
      std::string(" FROM meta WHERE key IN ('content_sha256', '") + kSealKey + "')";
  bool sealed = false;
  c.read([&] { sealed = c.integer("SELECT count(*)" + of_sealed) > 0; });
  if (sealed) c.write([&] { c.execute("DELETE" + of_sealed); });
}

// The log lets readers go on during a commit and saves a sync per commit; losing the last commits
// with the power costs measuring them again. Where there is no shared memory the journal stays and
// is synced.
void choose_journal(Connection& c) {
  try {
    c.outside_transaction([&] { c.text("PRAGMA journal_mode = WAL"); });
  } catch (const Error&) {
    // Another process is in the middle of something: the next one to open it will switch.
  }
  c.outside_transaction([&] {
    const bool log = c.text("PRAGMA journal_mode") == "wal";
    c.execute(log ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
  });
}

}  // namespace

std::span<const Migration> migrations() {
  static const Migration kAll[] = {{1, kSchema1To2Sql}, {2, kSchema2To3Sql}, {3, kSchema3To4Sql}};
  return kAll;
}

void require_schema(Connection& c, int32_t version) {
  c.read([&] {
    if (is_new(c)) c.fail("holds no tables: nothing was tuned into it");
    const int32_t found = known_version(c, version);
    if (found < version) {
      c.fail("has " + version_text(found) + ", older than " + version_text(version) +
             " of this program: migrate it with mla-tune db migrate --db " + c.path());
    }
    require_tables(c);
  });
}

void prepare_for_writing(Connection& c, int32_t version, std::span<const Migration> steps) {
  bool current = false;
  c.read([&] { current = !is_new(c) && known_version(c, version) == version; });
  if (!current) {
    c.outside_transaction([&] { c.execute("PRAGMA foreign_keys = OFF"); });
    c.write([&] {  // asked again under the lock: another process may have been faster
      if (is_new(c)) {
        create(c, version);
      } else if (const int32_t found = known_version(c, version); found < version) {
        migrate(c, found, version, steps);
      }
    });
    c.outside_transaction([&] { c.execute("PRAGMA foreign_keys = ON"); });
  }
  require_schema(c, version);
  c.expect_schema(version);
  break_seal(c);
  choose_journal(c);
}

}  // namespace mla::db

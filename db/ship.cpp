// SPDX-License-Identifier: MIT
#include "db/ship.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <filesystem>

#include "db/content.h"
#include "db/schema.h"
#include "db/seal.h"
#include "kernels/error.h"

namespace mla::db {
namespace {

namespace fs = std::filesystem;

// A file that goes away again unless it is given its name.
class Partial {
 public:
  explicit Partial(const std::string& target)
      : target_(target), path_(target + "." + std::to_string(getpid()) + ".partial") {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  ~Partial() { remove_database(path_); }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;

  const std::string& path() const { return path_; }

  void publish() const {
    std::error_code error;
    fs::permissions(
        path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read, error);
    if (!error) fs::rename(path_, target_, error);
    if (error) throw Error(ErrorCode::kDatabase, target_ + ": " + error.message());
  }

 private:
  std::string target_;
  std::string path_;
};

void copy(const std::string& source, const std::string& target) {
  Connection c(source, OpenMode::kReadOnly);
  require_schema(c);
  c.read([&] { require_own_schema_only(c); });
  c.outside_transaction([&] {
    SQLite::Statement& vacuum = c.statement("VACUUM INTO ?1");
    vacuum.bind(1, target);
    vacuum.exec();
  });
}

void set_meta(Connection& c, const std::string& key, const std::string& value) {
  SQLite::Statement& insert =
      c.statement("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)");
  insert.bind(1, key);
  insert.bind(2, value);
  insert.exec();
}

void write_provenance(Connection& c, const std::string& shipped_by, Shipped* shipped) {
  const std::string parents = c.text("SELECT value FROM meta WHERE key = 'parents'");
  const std::string source_id = c.text("SELECT value FROM meta WHERE key = 'database_id'");
  shipped->content_sha256 = content_hash(c);
  shipped->database_id = c.text("SELECT lower(hex(randomblob(16)))");
  shipped->winners = c.integer("SELECT count(*) FROM winner");
  set_meta(c, "database_id", shipped->database_id);
  set_meta(c, "parents", parents.empty() ? source_id : parents + " " + source_id);
  set_meta(c, "shipped_by", shipped_by);
  set_meta(c, "shipped_utc", c.text("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"));
  set_meta(c, "content_sha256", shipped->content_sha256);
  set_meta(c, kSealKey, blank_seal());
}

void require_sound(const std::string& path, const std::string& source) {
  for (const Store::CheckRow& row : Store::open(path, OpenMode::kReadOnly).check()) {
    if (row.ok) continue;
    throw Error(
        ErrorCode::kDatabase,
        source + ": is damaged (" + row.check + ": " + row.detail + "), nothing is shipped");
  }
}

}  // namespace

void remove_database(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) fs::remove(path + suffix, ignored);
}

Shipped ship(const std::string& source, const std::string& target, const std::string& shipped_by) {
  if (fs::exists(target)) {
    throw Error(
        ErrorCode::kDatabase,
        target + ": exists, and a shipped file is not replaced: name another, or remove it");
  }
  const Partial partial(target);
  copy(source, partial.path());
  Shipped shipped;
  {
    Connection c(partial.path(), OpenMode::kReadWrite);
    c.outside_transaction([&] { c.text("PRAGMA journal_mode = DELETE"); });
    c.write([&] { write_provenance(c, shipped_by, &shipped); });
  }
  write_seal(partial.path());
  require_sound(partial.path(), source);
  partial.publish();
  shipped.file_bytes = static_cast<int64_t>(fs::file_size(target));
  return shipped;
}

}  // namespace mla::db

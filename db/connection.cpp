// SPDX-License-Identifier: MIT
#include "db/connection.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "db/sqlite_errors.h"
#include "kernels/error.h"

namespace mla::db {
namespace {

namespace fs = std::filesystem;

// Instructions between two calls of the work counter, and the allowance in these units: 20 million
// instructions (about half a second) and 50 per byte of the file. An honest row has at least 20
// bytes and takes about 100 instructions; a file whose tree has loops runs into the limit.
constexpr int kWorkStep = 1000;
constexpr int64_t kBaseWork = 20'000;
constexpr int64_t kWorkPerKilobyte = 50;

constexpr int kMaxValueBytes = 1 << 20;

// A connection belongs to one thread at a time; without this each column that is read takes a lock.
constexpr int kOneThread = SQLITE_OPEN_NOMUTEX;

// Never taken for a URI, an option or ":memory:".
std::string plain_path(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

std::string uri(const std::string& path, const char* query) {
  std::string result = "file:";
  for (const char c : plain_path(path)) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char kHex[] = "0123456789ABCDEF";
      result += {'%', kHex[c >> 4], kHex[c & 15]};
    } else {
      result += c;
    }
  }
  return result + "?" + query;
}

int64_t file_size(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int64_t>(info.st_size) : 0;
}

}  // namespace

Connection::Connection(const std::string& path, OpenMode mode) : path_(path) {
  open(mode);
}

Connection::~Connection() {
  statements_.clear();  // before the connection that they belong to
}

void Connection::fail(const std::string& text) const {
  throw Error(ErrorCode::kDatabase, path_ + ": " + text);
}

// Beside the file, with something in it.
bool Connection::has_log() const {
  const std::string name = plain_path(path_);
  return file_size(name + "-wal") > 0 || file_size(name + "-journal") > 0;
}

// What SQLite would answer with "unable to open" is told apart first.
void Connection::open(OpenMode mode) {
  if (path_.empty()) throw Error(ErrorCode::kDatabase, "the database path is empty");
  const std::string name = plain_path(path_);
  struct stat info {};
  if (::stat(name.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) fail("is a directory, not a database file");
    if (!S_ISREG(info.st_mode)) fail("is not a regular file");
    if (::access(name.c_str(), R_OK) != 0)
      fail(std::string("cannot be read: ") + std::strerror(errno));
    if (mode == OpenMode::kReadOnly && info.st_size == 0)
      fail("is empty: nothing was tuned into it");
    if (mode == OpenMode::kReadWrite && ::access(name.c_str(), W_OK) != 0) {
      fail(std::string("cannot be written: ") + std::strerror(errno));
    }
  } else if (mode == OpenMode::kReadOnly || errno != ENOENT) {
    fail(std::string("cannot be opened: ") + std::strerror(errno));
  } else {
    std::error_code error;
    const fs::path directory = fs::path(name).parent_path();
    fs::create_directories(directory, error);
    if (error) fail("its directory cannot be created: " + error.message());
    if (::access(directory.c_str(), W_OK) != 0) {
      fail(std::string("cannot be created: ") + std::strerror(errno));
    }
  }
  int os_error = 0;
  try {
    const int flags = mode == OpenMode::kReadOnly ? SQLite::OPEN_READONLY
                                                  : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
    db_ = std::make_unique<SQLite::Database>(name, flags | kOneThread);
    harden();
    errno = 0;
    try {
      db_->execAndGet("SELECT count(*) FROM sqlite_schema");
    } catch (const SQLite::Exception& e) {
      os_error = errno;
      const bool no_locks = mode == OpenMode::kReadOnly && os_error == ENOLCK;
      if (e.getErrorCode() != SQLITE_BUSY || no_locks) throw;
      db_->setBusyTimeout(kBusyTimeoutMs);
      db_->execAndGet("SELECT count(*) FROM sqlite_schema");
    }
    db_->setBusyTimeout(kBusyTimeoutMs);
  } catch (const SQLite::Exception& e) {
    if (os_error == 0) os_error = errno;
    const int code = full_code(e);
    // SQLite also takes a mount without locks for another's lock, and keeps no errno of that.
    const bool no_locks = e.getErrorCode() == SQLITE_BUSY && os_error == ENOLCK;
    if (mode == OpenMode::kReadWrite || !(no_locks || lacks_sharing(code)))
      fail_sqlite(code, e.what(), os_error);
    open_immutable();
  }
}

// Without a log beside it the file is the whole truth, and nobody can write it without a log.
void Connection::open_immutable() {
  if (has_log()) {
    fail("holds changes that are not merged and cannot be from here: open it once for writing");
  }
  try {
    db_ = std::make_unique<SQLite::Database>(uri(path_, "immutable=1"),
                                             SQLite::OPEN_READONLY | SQLite::OPEN_URI | kOneThread);
    harden();
    db_->execAndGet("SELECT count(*) FROM sqlite_schema");
  } catch (const SQLite::Exception& e) {
    fail_sqlite(full_code(e), e.what(), errno);
  }
}

void Connection::harden() {
  sqlite3* handle = db_->getHandle();
  sqlite3_extended_result_codes(handle, 0);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  grant_work();
  sqlite3_progress_handler(handle, kWorkStep, &Connection::count_work, this);
  db_->exec(
      "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
      "PRAGMA temp_store = MEMORY;");  // a folder for temporary files need not exist
}

void Connection::grant_work() {
  const std::string name = plain_path(path_);
  const int64_t bytes = file_size(name) + file_size(name + "-wal");
  work_left_ = kBaseWork + bytes / 1024 * kWorkPerKilobyte;
}

int Connection::count_work(void* self) {
  return --static_cast<Connection*>(self)->work_left_ < 0;
}

void Connection::read(const std::function<void()>& body) {
  run("BEGIN", "COMMIT", body);
}

void Connection::write(const std::function<void()>& body) {
  run("BEGIN IMMEDIATE", "COMMIT", [&] {
    work_left_ = INT64_MAX;  // grows the file that a limit would be derived from
    if (expected_schema_ != 0) {
      const int64_t found = integer("PRAGMA user_version");
      if (found != expected_schema_) {
        fail("has schema " + std::to_string(found) + ", newer than schema " +
             std::to_string(expected_schema_) + " of this program: use a newer mla-tune");
      }
    }
    body();
  });
}

void Connection::outside_transaction(const std::function<void()>& body) {
  run("", "", body);
}

void Connection::run(const char* begin, const char* end, const std::function<void()>& body) {
  grant_work();
  try {
    db_->exec(begin);
    body();
    // An unfinished statement would keep the state of the file that it sees.
    for (const auto& [sql, statement] : statements_) statement->tryReset();
    db_->exec(end);
  } catch (const SQLite::Exception& e) {
    const int code = full_code(e);
    const int os_error = failed_errno(db_->getHandle());  // a rollback overwrites it
    rollback();
    fail_sqlite(code, e.what(), os_error);
  } catch (...) {
    rollback();
    throw;
  }
}

void Connection::rollback() noexcept {
  for (const auto& [sql, statement] : statements_) statement->tryReset();
  // SQLite has already rolled back after some errors (a full disk).
  if (sqlite3_get_autocommit(db_->getHandle()) == 0) {
    sqlite3_exec(db_->getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

SQLite::Statement& Connection::statement(const std::string& sql) {
  const auto known = statements_.find(sql);
  if (known == statements_.end()) {
    auto prepared = std::make_unique<SQLite::Statement>(*db_, sql);  // throws: nothing is kept
    return *(statements_[sql] = std::move(prepared));
  }
  known->second->reset();
  known->second->clearBindings();
  return *known->second;
}

void Connection::execute(const std::string& script) {
  db_->exec(script);
}

// Reset at once: an unfinished query locks its table against a migration.
int64_t Connection::integer(const std::string& sql) {
  SQLite::Statement& query = statement(sql);
  const int64_t value = query.executeStep() ? query.getColumn(0).getInt64() : 0;
  query.reset();
  return value;
}

std::string Connection::text(const std::string& sql) {
  SQLite::Statement& query = statement(sql);
  std::string value = query.executeStep() ? query.getColumn(0).getString() : std::string();
  query.reset();
  return value;
}

std::string Connection::file_bytes() {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(db_->getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) fail("cannot be read");
  sqlite3_int64 size = 0;
  int code = file->pMethods->xFileSize(file, &size);
  std::string bytes(static_cast<size_t>(size), '\0');
  constexpr sqlite3_int64 kBlockBytes = 1 << 24;
  for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK; at += kBlockBytes) {
    const auto count = static_cast<int>(std::min(kBlockBytes, size - at));
    code = file->pMethods->xRead(file, bytes.data() + at, count, at);
  }
  if (code != SQLITE_OK) fail_sqlite(code, "the file cannot be read", 0);
  return bytes;
}

int64_t Connection::last_id() const {
  return db_->getLastInsertRowid();
}

void Connection::fail_sqlite(int code, const char* message, int os_error) const {
  fail(error_text(code, message, os_error));
}

}  // namespace mla::db

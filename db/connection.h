// SPDX-License-Identifier: MIT
// One hardened SQLite connection, private to db/. The file may come from anyone: triggers, views
// and schema functions in it never run, values are limited in length, and reading stops after an
// amount of work that is in proportion to the file's size. SQLite's errors become Error(kDatabase)
// with one line that names the file and what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "db/store.h"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace mla::db {

// The longest text that is stored or believed; longer ones are cut when written.
inline constexpr size_t kMaxTextBytes = 16384;
inline constexpr int kBusyTimeoutMs = 10'000;

class Connection {
 public:
  // Opens the file as it is: no schema is looked at. A missing file is created for kReadWrite, with
  // its directory.
  Connection(const std::string& path, OpenMode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& path() const { return path_; }

  // Runs `body` in a read transaction, so that its queries see one state of the file.
  void read(const std::function<void()>& body);
  // Runs `body` in BEGIN IMMEDIATE .. COMMIT; rolled back where it throws. After expect_schema()
  // also where the file was migrated since.
  void write(const std::function<void()>& body);
  void expect_schema(int32_t version) { expected_schema_ = version; }
  // Runs `body` without a transaction: pragmas, VACUUM INTO.
  void outside_transaction(const std::function<void()>& body);

  // The whole file, through SQLite's own handle: closing another one of the same file would drop
  // the locks that this process holds on it.
  std::string file_bytes();

  // The rest is for use inside a body.

  // A prepared statement, kept for the connection's life, reset and without bindings. Using the
  // same text again while the first use is not done restarts it.
  SQLite::Statement& statement(const std::string& sql);
  void execute(const std::string& script);
  int64_t integer(const std::string& sql);  // first column of the first row
  std::string text(const std::string& sql);
  int64_t last_id() const;  // of the newest row that this connection inserted

  [[noreturn]] void fail(const std::string& text) const;  // Error(kDatabase), "path: text"

 private:
  void open(OpenMode mode);
  void open_immutable();
  bool has_log() const;
  void harden();
  void grant_work();
  void run(const char* begin, const char* end, const std::function<void()>& body);
  void rollback() noexcept;
  [[noreturn]] void fail_sqlite(int code, const char* message, int os_error) const;
  static int count_work(void* self);

  std::string path_;
  std::unique_ptr<SQLite::Database> db_;
  std::unordered_map<std::string, std::unique_ptr<SQLite::Statement>> statements_;
  int32_t expected_schema_ = 0;  // 0: none yet
  int64_t work_left_ = 0;        // in units of 1000 instructions of SQLite's virtual machine
};

}  // namespace mla::db

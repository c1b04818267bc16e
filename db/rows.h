// SPDX-License-Identifier: MIT
// From the tables to the structs of record.h. Trusts nothing: types, lengths and ranges are
// checked. Private to db/.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "db/record.h"

namespace SQLite {
class Column;
}  // namespace SQLite

namespace mla::db {

// A stored row that cannot be believed. The text names the column and why, not the file.
class BadRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs `body` as a read transaction; a BadRow that leaves it becomes an Error(kDatabase).
void read_rows(Connection& connection, const std::function<void()>& body);

// Walks the rows of a query and takes the columns of each from left to right. Every getter throws
// BadRow; the rows after that can be read.
class Cursor {
 public:
  explicit Cursor(SQLite::Statement& query);
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  bool next();  // false after the last row

  int64_t int64();
  int32_t int32();
  bool boolean();
  double real();            // finite
  std::string_view text();  // until the statement goes on
  // The enumerator of `all` whose name() is the text.
  template <class Enum>
  Enum one_of(std::initializer_list<Enum> all) {
    const std::string_view stored = text();
    for (const Enum e : all) {
      if (name(e) == stored) return e;
    }
    unknown_name(stored);
  }

 private:
  const SQLite::Column& column() const;
  [[noreturn]] void bad(const std::string& why) const;
  [[noreturn]] void unknown_name(std::string_view stored);

  SQLite::Statement& query_;
  std::vector<SQLite::Column> columns_;  // of whatever row the query is at
  size_t next_ = 0;
};

DeviceInfo read_device(Cursor& row);
Environment read_environment(Cursor& row);
RunInfo read_run(Cursor& row);
Problem read_problem(Cursor& row);      // valid; seq_len 0 of a plan for unknown lengths
KernelConfig read_config(Cursor& row);  // of a variant that this program has
void read_winner(Cursor& row, WinnerRecord* winner);
void read_loss(Cursor& row, LossRecord* loss);
Verdict read_verdict(Cursor& row);
WinnerStatus read_status(Cursor& row);
Phase read_phase(Cursor& row);
OutcomeKind read_outcome_kind(Cursor& row);

}  // namespace mla::db

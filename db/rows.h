// SPDX-License-Identifier: MIT
// Between the structs of record.h and the tables: one list of columns per struct, used for writing
// and for reading. Reading trusts nothing: types, lengths and ranges are checked. Private to db/.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/connection.h"
#include "db/record.h"

namespace mla::db {

using Value = std::variant<int64_t, double, std::string>;
struct Field {
  std::string_view column;
  Value value;
};
using Fields = std::vector<Field>;

// The columns of a struct with its values, in the order in which read_*() takes them.
Fields fields(const DeviceInfo& device);
Fields fields(const Environment& environment);
Fields fields(const RunInfo& run);
Fields fields(const Problem& problem);
Fields fields(const KernelConfig& config);  // of candidate: the variant, then the knobs
// Of winner without its ids and without problem and configurations, which are rows of their own.
Fields fields(const WinnerRecord& winner);

// For use inside a write.
void bind_fields(SQLite::Statement& statement, const Fields& row);  // to its parameters, in order
int64_t insert(Connection& connection, std::string_view table, const Fields& row);
int64_t find_or_insert(Connection& connection, std::string_view table, const Fields& row);

// `a."x", a."y"` for a SELECT.
std::string columns(std::string_view alias, const Fields& row);

// A stored row that cannot be believed. The text names the column and why, not the file.
class BadRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs `body` as a read transaction; a BadRow that leaves it becomes an Error(kDatabase).
void read_rows(Connection& connection, const std::function<void()>& body);

// Takes the columns of a query's current row from left to right. Every getter throws BadRow.
class Cursor {
 public:
  explicit Cursor(SQLite::Statement& row) : row_(row) {}

  int64_t int64();
  int32_t int32();
  bool boolean();
  double real();  // finite
  std::string text();
  // The enumerator of `all` whose name() is the text.
  template <class Enum>
  Enum one_of(std::initializer_list<Enum> all) {
    const std::string stored = text();
    for (const Enum e : all) {
      if (name(e) == stored) return e;
    }
    unknown_name(stored);
  }

 private:
  [[noreturn]] void bad(const std::string& why);
  [[noreturn]] void unknown_name(const std::string& stored);

  SQLite::Statement& row_;
  int next_ = 0;
};

DeviceInfo read_device(Cursor& row);
Environment read_environment(Cursor& row);
RunInfo read_run(Cursor& row);
Problem read_problem(Cursor& row);      // valid, with a known length
KernelConfig read_config(Cursor& row);  // of a variant that this program has
void read_winner(Cursor& row, WinnerRecord* winner);
Verdict read_verdict(Cursor& row);
WinnerStatus read_status(Cursor& row);
Phase read_phase(Cursor& row);
OutcomeKind read_outcome_kind(Cursor& row);

// 64-bit seeds are stored as signed integers of the same bits.
inline int64_t seed_bits(uint64_t seed) {
  return static_cast<int64_t>(seed);
}

}  // namespace mla::db

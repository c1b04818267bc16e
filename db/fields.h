// SPDX-License-Identifier: MIT
// From the structs of record.h to the tables: the columns of each struct with its values, in the
// order in which read_*() of rows.h takes them. Private to db/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
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

Fields fields(const DeviceInfo& device);
Fields fields(const Environment& environment);
Fields fields(const RunInfo& run);
Fields fields(const Problem& problem);
Fields fields(const KernelConfig& config);  // of candidate: the variant, then the knobs
// Of winner without its ids and without problem and configurations, which are rows of their own.
Fields fields(const WinnerRecord& winner);
Fields fields(const LossRecord& loss);  // without its ids

// 64-bit seeds are stored as signed integers of the same bits.
inline int64_t seed_bits(uint64_t seed) {
  return static_cast<int64_t>(seed);
}

// `a."x", a."y"` for a SELECT.
std::string columns(std::string_view alias, const Fields& row);

void bind_fields(SQLite::Statement& statement, const Fields& row);  // to its parameters, in order

// Writes rows of one table, inside a write. Its SQL is made of the first row's columns; every other
// row has the same, in the same order.
class TableWriter {
 public:
  TableWriter(Connection& connection, std::string_view table)
      : connection_(connection), table_(table) {}

  // Both return the id; find_or_insert() that of an equal row where there is one.
  int64_t insert(const Fields& row);
  int64_t find_or_insert(const Fields& row);

 private:
  void compose(const Fields& row);

  Connection& connection_;
  std::string table_;
  std::string insert_sql_;
  std::string find_sql_;
};

int64_t insert(Connection& connection, std::string_view table, const Fields& row);
int64_t find_or_insert(Connection& connection, std::string_view table, const Fields& row);

// Ids of configurations in the table candidate, each asked for once: rows there are never deleted.
class CandidateIds {
 public:
  explicit CandidateIds(Connection& connection) : candidates_(connection, "candidate") {}

  int64_t id(const KernelConfig& config);  // inside a write
  // After a write that was rolled back: ids of rows that it inserted are void.
  void forget() { ids_.clear(); }

 private:
  TableWriter candidates_;
  std::unordered_map<KernelConfig, int64_t> ids_;
};

// All columns of winner; stores the configurations that are not there yet.
Fields winner_row(const WinnerRecord& winner, int64_t tuning_id, CandidateIds* candidates);

}  // namespace mla::db

// SPDX-License-Identifier: MIT
#include "db/content.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/sha256.h"

namespace mla::db {
namespace {

struct TableOrder {
  const char* table;
  const char* key;
};
constexpr TableOrder kTables[] = {{"device", "id"},
                                  {"environment", "id"},
                                  {"run", "id"},
                                  {"problem", "id"},
                                  {"candidate", "id"},
                                  {"tuning", "id"},
                                  {"round", "id"},
                                  {"sample", "round_id, leg"},
                                  {"outcome", "tuning_id, candidate_id"},
                                  {"loss", "tuning_id, candidate_id"},
                                  {"winner", "id"}};

void add_value(Sha256* hash, const SQLite::Column& value) {
  const std::string text = value.getString();
  hash->add(std::to_string(value.getType()) + ":" + std::to_string(text.size()) + ":");
  hash->add(text);
}

}  // namespace

std::string content_hash(Connection& c) {
  Sha256 hash;
  for (const TableOrder& order : kTables) {
    hash.add(std::string("\n") + order.table);
    SQLite::Statement& rows =
        c.statement(std::string("SELECT * FROM ") + order.table + " ORDER BY " + order.key);
    while (rows.executeStep()) {
      for (int i = 0; i < rows.getColumnCount(); ++i) add_value(&hash, rows.getColumn(i));
    }
  }
  return hash.hex();
}

void require_own_schema_only(Connection& c) {
  const std::string foreign = c.text(
      "SELECT type || ' ' || name FROM sqlite_schema WHERE type = 'trigger'"
      " OR (type = 'table' AND (rootpage = 0 OR name NOT IN ('meta', 'device', 'environment',"
      "  'run', 'problem', 'candidate', 'tuning', 'round', 'sample', 'outcome', 'winner', 'loss')))"
      " OR (type = 'view' AND name NOT IN ('v_best', 'v_regressions', 'v_failures', 'v_losses'))"
      " LIMIT 1");
  if (!foreign.empty()) c.fail("holds the " + foreign.substr(0, 80) + ", which is not ours");
}

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// Which file is ours and which version its tables have; creation and migration. Private to db/.
#pragma once

#include <cstdint>
#include <span>

#include "db/connection.h"

namespace mla::db {

// The texts of the SQL files, embedded at build time.
extern const char* const kSchemaSql;
extern const char* const kViewsSql;
extern const char* const kSchema1To2Sql;
extern const char* const kSchema2To3Sql;
extern const char* const kSchema3To4Sql;

// Takes a file from schema `from` to `from + 1`. Runs without views and without the enforcement of
// foreign keys, so that it may rebuild a table. FORMAT.md, "Upgrade rules".
struct Migration {
  int32_t from = 0;
  const char* sql = nullptr;
};

// Every released migration, in order.
std::span<const Migration> migrations();

// Throws unless the file is a tuning database of schema `version`; nothing is written.
void require_schema(Connection& connection, int32_t version = kSchemaVersion);

// Creates the tables in an empty file, or migrates an older schema to `version`, each in one
// transaction. Before a migration the file is copied to "<path>.schema<N>.backup". Then puts the
// file into write-ahead-log mode where the file system can have it.
void prepare_for_writing(Connection& connection,
                         int32_t version = kSchemaVersion,
                         std::span<const Migration> steps = migrations());

}  // namespace mla::db

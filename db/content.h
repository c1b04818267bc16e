// SPDX-License-Identifier: MIT
// What a database holds, as one hash. Private to db/.
#pragma once

#include <string>

#include "db/connection.h"

namespace mla::db {

// SHA-256 over every row of every table but meta, in the order of the primary keys, each value with
// its type: equal for equal rows however the file's pages lie. Inside a read.
std::string content_hash(Connection& connection);

// Throws where the schema holds what is not ours (triggers, further tables and views): a reader
// would ignore it, but it must not travel on. Inside a read.
void require_own_schema_only(Connection& connection);

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// A database as one immutable file for a deployment.
#pragma once

#include <cstdint>
#include <string>

namespace mla::db {

struct Shipped {
  std::string database_id;  // of its own; the source's is among its parents
  std::string content_sha256;
  int64_t file_bytes = 0;
  int64_t winners = 0;
};

// Writes `target`, which must not exist, from a consistent state of `source`, which stays as it is:
// compacted, in rollback-journal form and without write permission, so that any user can read it in
// a read-only directory. It is checked (Store::check()) before it gets its name. `shipped_by` is
// kept as provenance. Throws Error(kDatabase), and no file is left.
Shipped ship(const std::string& source, const std::string& target, const std::string& shipped_by);

// The file and what SQLite keeps beside it, as far as they are there.
void remove_database(const std::string& path);

}  // namespace mla::db

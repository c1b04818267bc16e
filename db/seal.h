// SPDX-License-Identifier: MIT
// A checksum over the bytes of a shipped file, cheap enough to be looked at whenever the file is
// opened (3 ms for 100,000 winners; the content hash walks every row). It finds damage that SQLite
// does not see and edits, not forgery. Private to db/.
#pragma once

#include <optional>
#include <string>

#include "db/connection.h"

namespace mla::db {

// The row of `meta` that holds it, and its value until the file is complete.
inline constexpr const char* kSealKey = "file_check";
std::string blank_seal();

// Replaces the blank seal in the file, which nobody has open, by that of its bytes.
void write_seal(const std::string& path);

// Whether the file is as it was sealed; nothing for a file without a seal. Inside a read.
std::optional<bool> seal_holds(Connection& connection);

}  // namespace mla::db

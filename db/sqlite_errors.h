// SPDX-License-Identifier: MIT
// What SQLite's error codes mean to a person, and to a reader that has another way. Private to db/.
#pragma once

#include <string>

struct sqlite3;

namespace SQLite {
class Exception;
}

namespace mla::db {

// With the extension that tells I/O errors apart, where there is one.
int full_code(const SQLite::Exception& error);

// errno of a failed call on the database or its log; 0: unknown.
int failed_errno(sqlite3* handle);

// What a read-only folder or a mount without locks or shared memory answers to a reader.
bool lacks_sharing(int code);

// One line that says what to do, to be put behind the file's name.
std::string error_text(int code, const char* message, int os_error);

}  // namespace mla::db

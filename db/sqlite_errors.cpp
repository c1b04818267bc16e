// SPDX-License-Identifier: MIT
#include "db/sqlite_errors.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cstring>

#include "db/connection.h"

namespace mla::db {

int full_code(const SQLite::Exception& e) {
  const int extended = e.getExtendedErrorCode();
  return (extended & 0xFF) == e.getErrorCode() ? extended : e.getErrorCode();
}

// SQLite's own record of it lacks writes.
int failed_errno(sqlite3* handle) {
  int code = sqlite3_system_errno(handle);
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == 0 && log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code);
  }
  if (code == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
  return code;
}

bool lacks_sharing(int code) {
  switch (code) {
    case SQLITE_IOERR_LOCK:
    case SQLITE_IOERR_RDLOCK:
    case SQLITE_IOERR_UNLOCK:
    case SQLITE_IOERR_CHECKRESERVEDLOCK:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMLOCK:
    case SQLITE_IOERR_SHMMAP:
      return true;
    default:
      return (code & 0xFF) == SQLITE_CANTOPEN || (code & 0xFF) == SQLITE_READONLY;
  }
}

std::string error_text(int code, const char* message, int os_error) {
  const std::string reason = os_error != 0 ? std::strerror(os_error) : message;
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "is locked by another process, or its file system has no locks (waited " +
             std::to_string(kBusyTimeoutMs / 1000) + " s): try again when that has ended";
    case SQLITE_FULL:
      return "the disk is full; what was stored before is safe: make room and run again";
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_WRITE) {  // a quota or a file size limit, or a broken disk
        return "cannot be written: " + reason + "; what was stored before is safe";
      }
      return "input/output error: " + reason;
    case SQLITE_NOTADB:
      return "is not an SQLite database";
    case SQLITE_CORRUPT:
      return std::string("is damaged (") + message + "): restore a copy or tune into a new file";
    case SQLITE_READONLY:
      return "cannot be written: the file or its directory is read-only: name another file";
    case SQLITE_CANTOPEN:
      return "cannot be opened: " + reason;
    case SQLITE_INTERRUPT:
      return "takes more work to read than its size explains: it is damaged or forged";
    default:
      return message;
  }
}

}  // namespace mla::db

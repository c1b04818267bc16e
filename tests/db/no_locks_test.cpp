// SPDX-License-Identifier: MIT
// Mounts that lack what SQLite builds on: file locks, shared memory. The default file system layer
// of SQLite is replaced by one that answers as they do.
#define BOOST_TEST_MODULE no_locks
#include <sqlite3.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "db/ship.h"
#include "db/snapshot.h"
#include "db/store.h"
#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

// SQLite's own layer, whose xLock finds so many times another process's lock, then answers what a
// mount without locks does (0: as usual); without shared memory the methods of a file that has
// none.
struct Mount {
  int locked_times = 0;
  int lock_answer = 0;
  bool shared_memory = true;
};
Mount mount;
const sqlite3_io_methods* real_methods = nullptr;
sqlite3_io_methods methods;

int lock(sqlite3_file* file, int level) {
  if (mount.locked_times > 0) {
    --mount.locked_times;
    errno = EAGAIN;
    return SQLITE_BUSY;
  }
  if (mount.lock_answer == 0) return real_methods->xLock(file, level);
  errno = ENOLCK;
  return mount.lock_answer;
}

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  sqlite3_vfs* const real = sqlite3_vfs_find("unix");
  const int code = real->xOpen(real, path, file, flags, flags_out);
  if (code != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0) return code;
  real_methods = file->pMethods;
  methods = *real_methods;
  methods.xLock = lock;
  if (!mount.shared_memory) methods.iVersion = 1;
  file->pMethods = &methods;
  return code;
}

class OnMount {
 public:
  explicit OnMount(const Mount& as) : vfs_(*sqlite3_vfs_find("unix")) {
    mount = as;
    vfs_.zName = "mount";
    vfs_.xOpen = open_file;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~OnMount() { sqlite3_vfs_unregister(&vfs_); }
  OnMount(const OnMount&) = delete;
  OnMount& operator=(const OnMount&) = delete;

 private:
  sqlite3_vfs vfs_;
};

struct Fixture {
  Fixture() {
    Store store = Store::open(path, OpenMode::kReadWrite);
    const KernelConfig base = make_space(sample_device()).neutral();
    const int64_t id = store.open_tuning(store.begin_run(sample_run()), sample_key()).id;
    store.finish_tuning(id, sample_winner(sample_problem(), base));
  }

  static int64_t rows(const std::string& file) {
    return load_snapshot(file, make_space(sample_device()), {[](const SnapshotRow&) {}}).rows_used;
  }

  static bool refused_for_writing(const std::string& file) {
    try {
      Store::open(file, OpenMode::kReadWrite).begin_run(sample_run());
    } catch (const Error& error) {
      BOOST_TEST((error.code() == ErrorCode::kDatabase));
      BOOST_TEST(std::string(error.what()).find(file) != std::string::npos);
      return true;
    }
    return false;
  }

  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(no_locks, Fixture)

BOOST_AUTO_TEST_CASE(a_shipped_file_is_read_where_the_mount_has_no_locks) {
  const std::string shipped = directory.file("shipped.db");
  ship(path, shipped, "test");
  // NFS without a lock daemon: ENOLCK, which SQLite takes for another's lock; others say I/O error.
  for (const int answer : {SQLITE_BUSY, SQLITE_IOERR_LOCK, SQLITE_IOERR_RDLOCK}) {
    const OnMount no_locks({.lock_answer = answer});
    BOOST_TEST(rows(shipped) == 1, answer);
  }
}

BOOST_AUTO_TEST_CASE(a_tuning_database_at_rest_is_read_where_the_mount_has_no_locks) {
  const OnMount no_locks({.lock_answer = SQLITE_IOERR_LOCK});
  BOOST_TEST(rows(path) == 1);
}

// SQLite tries again 16 times in somewhat more than half a second.
BOOST_AUTO_TEST_CASE(a_reader_waits_for_another_process_and_does_not_read_without_a_lock) {
  const OnMount busy({.locked_times = 16});
  BOOST_TEST(rows(path) == 1);
  BOOST_TEST(mount.locked_times == 0);
}

BOOST_AUTO_TEST_CASE(a_database_with_a_log_is_read_without_shared_memory_once_it_is_at_rest) {
  const OnMount no_memory({.shared_memory = false});
  BOOST_TEST(rows(path) == 1);
}

BOOST_AUTO_TEST_CASE(a_file_with_an_unmerged_log_is_refused_and_not_read_without_its_log) {
  Store writer = Store::open(path, OpenMode::kReadWrite);  // its commits lie in the log
  writer.begin_run(sample_run());
  const OnMount no_memory({.shared_memory = false});
  BOOST_CHECK_EXCEPTION(rows(path), Error, [](const Error& error) {
    return std::string(error.what()).find("changes that are not merged") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_writer_without_locks_is_an_error_that_names_the_file) {
  const OnMount no_locks({.lock_answer = SQLITE_IOERR_LOCK});
  BOOST_TEST(refused_for_writing(path));
}

BOOST_AUTO_TEST_CASE(a_writer_without_shared_memory_keeps_a_journal_and_loses_nothing) {
  const OnMount no_memory({.shared_memory = false});
  const std::string fresh = directory.file("fresh.db");
  Store::open(fresh, OpenMode::kReadWrite).begin_run(sample_run());
  const DatabaseInfo info = Store::open(fresh, OpenMode::kReadOnly).info();
  BOOST_TEST(info.runs == 1);
  BOOST_TEST(info.journal_mode != "wal");
}

BOOST_AUTO_TEST_SUITE_END()

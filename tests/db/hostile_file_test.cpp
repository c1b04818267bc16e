// SPDX-License-Identifier: MIT
// Files that are not what they should be: each is a one-line error that names the file, never a
// crash.
#define BOOST_TEST_MODULE hostile_file
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "db/fake_winners.h"
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

struct Fixture {
  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  Space space = make_space(sample_device());

  void write_valid() {
    Store store = Store::open(path, OpenMode::kReadWrite);
    const int64_t id = store.open_tuning(store.begin_run(sample_run()), sample_key()).id;
    store.save_round(id, sample_round(0, 8, space.neutral()));
    store.save_outcome(id, {space.neutral(), {OutcomeKind::kFault, "signal 11"}, 1});
    store.finish_tuning(id, sample_winner(sample_problem(), space.neutral()));
  }
  void write_text(const std::string& text) { std::ofstream(path) << text; }
  // As its author could, with any SQL.
  void alter(const std::string& sql) {
    SQLite::Database file(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    file.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + sql);
  }
  SnapshotLoad load() {
    return load_snapshot(path, space, {[](const SnapshotRow&) {}, [](const SnapshotLoss&) {}});
  }
  // Everything that a reader does; an Error is an answer, anything else fails the test.
  void read_all() {
    try {
      const Store store = Store::open(path, OpenMode::kReadOnly);
      store.check();
      store.info();
      for (const TuningSummary& summary : store.summaries()) store.load_rounds(summary.tuning_id);
    } catch (const Error&) {
    }
    try {
      load();
    } catch (const Error&) {
    }
  }
};

// One line, kDatabase, beginning with the path and holding `part`.
void check_refused(const std::string& path, OpenMode mode, const std::string& part) {
  BOOST_CHECK_EXCEPTION(Store::open(path, mode), Error, [&](const Error& e) {
    const std::string text = e.what();
    BOOST_TEST_MESSAGE(text);
    return e.code() == ErrorCode::kDatabase && text.starts_with(path + ": ") &&
           text.find(part) != std::string::npos && text.find('\n') == std::string::npos;
  });
}

void check_refused_both_ways(const std::string& path, const std::string& part) {
  check_refused(path, OpenMode::kReadOnly, part);
  check_refused(path, OpenMode::kReadWrite, part);
}

// Exit status of a child that runs `body`, so that a limit or another user stays there.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (const std::exception& e) {
      ::write(2, e.what(), std::string_view(e.what()).size());
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_missing_file_is_refused_for_reading_and_not_created, Fixture) {
  check_refused(path, OpenMode::kReadOnly, "No such file");
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_FIXTURE_TEST_CASE(a_new_file_is_created_with_its_directory, Fixture) {
  path = directory.file("a/b/tuning.db");
  Store::open(path, OpenMode::kReadWrite);
  BOOST_TEST(load().rows_used == 0);
}

BOOST_FIXTURE_TEST_CASE(an_empty_file_is_a_new_database, Fixture) {
  write_text("");
  check_refused(path, OpenMode::kReadOnly, "is empty");
  Store::open(path, OpenMode::kReadWrite);
  Store::open(path, OpenMode::kReadOnly);
}

BOOST_FIXTURE_TEST_CASE(text_is_not_a_database, Fixture) {
  write_text(std::string(5000, 'x'));
  check_refused_both_ways(path, "is not an SQLite database");
}

BOOST_FIXTURE_TEST_CASE(a_directory_and_a_pipe_are_refused, Fixture) {
  check_refused_both_ways(directory.path().string(), "is a directory");
  BOOST_TEST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  check_refused_both_ways(path, "is not a regular file");
}

BOOST_FIXTURE_TEST_CASE(a_file_of_another_application_is_refused_and_not_changed, Fixture) {
  alter("CREATE TABLE bookmarks (url TEXT); PRAGMA application_id = 1111");
  check_refused_both_ways(path, "another application (application_id 0x00000457)");
  SQLite::Database file(path);
  BOOST_TEST(file.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_newer_schema_names_both_versions, Fixture) {
  write_valid();
  alter("PRAGMA user_version = 7");
  check_refused_both_ways(
      path,
      "has schema 7, newer than schema " + std::to_string(kSchemaVersion) + " of this program");
  BOOST_CHECK_THROW(load(), Error);
}

BOOST_FIXTURE_TEST_CASE(a_truncated_file_is_damaged, Fixture) {
  write_fake_winners(path, sample_device(), 500, 1);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  check_refused_both_ways(path, "is damaged");
}

// A statement that could not be prepared stayed in the cache as a null pointer.
BOOST_FIXTURE_TEST_CASE(a_table_without_a_column_is_an_error_and_no_crash, Fixture) {
  write_valid();
  alter("ALTER TABLE run DROP COLUMN host");
  const Store store = Store::open(path, OpenMode::kReadOnly);
  BOOST_CHECK_THROW(store.summaries(), Error);
  BOOST_CHECK_THROW(store.summaries(), Error);
  BOOST_TEST(store.info().winners == 1);
}

BOOST_FIXTURE_TEST_CASE(a_planted_view_or_trigger_never_runs, Fixture) {
  write_valid();
  alter("CREATE TRIGGER planted AFTER INSERT ON run BEGIN DELETE FROM winner; END");
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    store.begin_run(sample_run());
    BOOST_TEST(store.info().winners == 1);
  }
  alter("ALTER TABLE winner RENAME TO hidden; CREATE VIEW winner AS SELECT * FROM hidden");
  check_refused_both_ways(path, "lacks tables of its schema");
}

BOOST_FIXTURE_TEST_CASE(rows_with_absurd_values_are_skipped_with_a_reason, Fixture) {
  const struct {
    const char* sql;
    const char* reason;
  } kCases[] = {
      {"UPDATE problem SET nhead = 100000", "nhead"},
      {"UPDATE problem SET seq_len = -5", "seq_len"},
      {"UPDATE problem SET batch = 9223372036854775807", "out of range"},
      {"UPDATE problem SET kv_dtype = 'fp4'", "unknown name 'fp4'"},
      {"UPDATE candidate SET variant = 'bh99' WHERE id = (SELECT config_id FROM winner)",
       "unknown variant 'bh99'"},
      {"UPDATE candidate SET splits = 2000000000 WHERE id = (SELECT config_id FROM winner)",
       "splits"},
      {"UPDATE candidate SET wait = printf('%.200000c', 'x') WHERE id = (SELECT config_id FROM "
       "winner)",
       "longer than any text"},
      {"UPDATE winner SET gain = 9e999", "not finite"},
      {"UPDATE winner SET config_id = 12345", "is missing"},
      {"UPDATE device SET compute_units = -1", "counts of units"},
      {"UPDATE environment SET driver = printf('%.200000c', 'x')", "longer than any text"},
  };
  for (const auto& c : kCases) {
    BOOST_TEST_CONTEXT(c.sql) {
      std::filesystem::remove(path);
      write_valid();
      alter(c.sql);
      const SnapshotLoad load = this->load();
      BOOST_TEST(load.rows_used == 0);
      BOOST_TEST_REQUIRE(load.reasons.size() == 1u);
      BOOST_TEST(load.reasons[0].find(c.reason) != std::string::npos, load.reasons[0]);
      int bad = 0;
      const Store store = Store::open(path, OpenMode::kReadOnly);
      for (const Store::CheckRow& row : store.check()) bad += !row.ok;
      BOOST_TEST(bad > 0);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_damaged_row_does_not_hide_the_others, Fixture) {
  write_fake_winners(path, sample_device(), 3, 1);
  alter("UPDATE winner SET verdict = 'best' WHERE id = 2");
  const SnapshotLoad load = this->load();
  BOOST_TEST(load.rows_used == 2);
  BOOST_TEST(load.rows_skipped == 1);
}

BOOST_FIXTURE_TEST_CASE(a_read_only_file_in_a_read_only_directory_is_read_by_any_user, Fixture) {
  write_valid();
  ::chmod(path.c_str(), 0444);
  ::chmod(directory.path().c_str(), 0555);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
    if (load().rows_used != 1) return 2;
    try {
      Store::open(path, OpenMode::kReadWrite);
    } catch (const Error& e) {
      return std::string(e.what()).find("cannot be written") != std::string::npos ? 0 : 3;
    }
    return 4;
  });
  BOOST_TEST(status == 0);
}

BOOST_FIXTURE_TEST_CASE(a_read_only_directory_takes_no_new_database, Fixture) {
  ::chmod(directory.path().c_str(), 0555);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
    try {
      Store::open(path, OpenMode::kReadWrite);
    } catch (const Error& e) {
      return e.what() == path + ": cannot be created: Permission denied" ? 0 : 2;
    }
    return 3;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_FIXTURE_TEST_CASE(a_failed_write_names_its_cause_and_loses_nothing_that_was_stored, Fixture) {
  write_valid();
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    Store store = Store::open(path, OpenMode::kReadWrite);
    const auto bytes = static_cast<rlim_t>(std::filesystem::file_size(path)) + 100'000;
    const rlimit limit = {bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    TuningKey key = sample_key();
    key.seed = 2;
    const int64_t id = store.open_tuning(1, key).id;
    for (int round = 0; round < 10'000; ++round) {
      try {
        store.save_round(id, sample_round(round, 64, space.neutral()));
      } catch (const Error& e) {
        return std::string(e.what()).find("File too large") != std::string::npos &&
                       static_cast<int>(store.load_rounds(id).size()) == round
                   ? 0
                   : 1;
      }
    }
    return 2;
  });
  BOOST_TEST(status == 0);
  const Store store = Store::open(path, OpenMode::kReadOnly);
  for (const Store::CheckRow& row : store.check()) BOOST_TEST(row.ok, row.detail);
  BOOST_TEST(load().rows_used == 1);
}

BOOST_FIXTURE_TEST_CASE(flipped_bytes_never_crash_a_reader, Fixture) {
  write_valid();
  std::ifstream in(path, std::ios::binary);
  const std::string valid((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = valid;
    for (uint64_t flips = 1 + random() % 16; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    BOOST_CHECK_NO_THROW(read_all());
  }
}

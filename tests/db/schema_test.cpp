// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE schema
#include "db/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

// A later schema that does not exist yet.
constexpr Migration kToTwo[] = {{1, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''"}};
constexpr Migration kBroken[] = {
    {1, "ALTER TABLE run ADD COLUMN note TEXT; DROP TABLE no_such_table"}};

struct Fixture {
  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  std::string backup = path + ".schema1.backup";

  Fixture() { Store::open(path, OpenMode::kReadWrite).begin_run(sample_run()); }
};

int64_t integer(const std::string& file, const std::string& sql) {
  return SQLite::Database(file).execAndGet(sql).getInt64();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_migration_keeps_the_rows_and_leaves_a_backup_of_the_old_schema, Fixture) {
  {
    Connection connection(path, OpenMode::kReadWrite);
    prepare_for_writing(connection, 2, kToTwo);
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == 2);
  BOOST_TEST(integer(path, "SELECT count(*) FROM run WHERE note = ''") == 1);
  BOOST_TEST(integer(backup, "PRAGMA user_version") == 1);
  BOOST_TEST(integer(backup, "PRAGMA application_id") == kApplicationId);
  BOOST_TEST(integer(backup, "SELECT count(*) FROM run") == 1);
  BOOST_CHECK_THROW(Store::open(path, OpenMode::kReadWrite), Error);
  Store::open(backup, OpenMode::kReadOnly);
}

BOOST_FIXTURE_TEST_CASE(a_migration_that_fails_changes_nothing, Fixture) {
  {
    Connection connection(path, OpenMode::kReadWrite);
    BOOST_CHECK_THROW(prepare_for_writing(connection, 2, kBroken), Error);
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == 1);
  BOOST_TEST(integer(path, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'note'") ==
             0);
  Store::open(path, OpenMode::kReadWrite);
}

BOOST_FIXTURE_TEST_CASE(an_older_schema_is_not_migrated_by_a_reader, Fixture) {
  Connection connection(path, OpenMode::kReadOnly);
  BOOST_CHECK_EXCEPTION(require_schema(connection, 2), Error, [](const Error& e) {
    return std::string(e.what()).find("schema 1, older than schema 2") != std::string::npos;
  });
  BOOST_TEST(!std::filesystem::exists(backup));
}

BOOST_FIXTURE_TEST_CASE(an_open_writer_stops_when_the_file_is_migrated_under_it, Fixture) {
  Store old = Store::open(path, OpenMode::kReadWrite);
  {
    Connection connection(path, OpenMode::kReadWrite);
    prepare_for_writing(connection, 2, kToTwo);
  }
  BOOST_CHECK_EXCEPTION(old.begin_run(sample_run()), Error, [](const Error& e) {
    return std::string(e.what()).find("schema 2, newer than schema 1") != std::string::npos;
  });
}

BOOST_FIXTURE_TEST_CASE(every_name_of_an_enumeration_is_accepted_by_its_column, Fixture) {
  const KernelConfig base = make_space(sample_device()).neutral();
  Store store = Store::open(path, OpenMode::kReadWrite);
  const int64_t id = store.open_tuning(1, sample_key()).id;
  int32_t round = 0;
  for (int kind = 0; kind <= static_cast<int>(OutcomeKind::kQuarantined); ++kind) {
    RoundRecord record = sample_round(round++, 1, base);
    record.samples[0].outcome = static_cast<OutcomeKind>(kind);
    BOOST_CHECK_NO_THROW(store.save_round(id, record));
    BOOST_CHECK_NO_THROW(store.save_outcome(id, {base, {static_cast<OutcomeKind>(kind), ""}, 0}));
  }
  for (const Phase phase : {Phase::kSearch, Phase::kSemifinal, Phase::kFinal}) {
    for (const char* role : {"candidate", "default", "drained", "placebo"}) {
      RoundRecord record = sample_round(round++, 1, base);
      record.phase = phase;
      record.samples[0].role = role;
      BOOST_CHECK_NO_THROW(store.save_round(id, record));
    }
  }
  for (int verdict = 0; verdict <= static_cast<int>(Verdict::kFailed); ++verdict) {
    for (int status = 0; status <= static_cast<int>(WinnerStatus::kVerifyAgain); ++status) {
      WinnerRecord winner = sample_winner(sample_problem(), base);
      winner.verdict = static_cast<Verdict>(verdict);
      winner.status = static_cast<WinnerStatus>(status);
      BOOST_CHECK_NO_THROW(store.finish_tuning(id, winner));
    }
  }
}

BOOST_FIXTURE_TEST_CASE(the_views_answer_in_an_sql_shell, Fixture) {
  const KernelConfig base = make_space(sample_device()).neutral();
  Store store = Store::open(path, OpenMode::kReadWrite);
  const int64_t id = store.open_tuning(1, sample_key()).id;
  store.save_outcome(id, {base, {OutcomeKind::kHang, "no answer in 10 s"}, 1});
  WinnerRecord winner = sample_winner(sample_problem(), base);
  winner.verdict = Verdict::kSlower;
  store.finish_tuning(id, winner);
  for (const char* view : {"v_best", "v_regressions", "v_failures"}) {
    BOOST_TEST(integer(path, std::string("SELECT count(*) FROM ") + view) == 1, view);
  }
}

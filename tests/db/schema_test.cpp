// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE schema
#include "db/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

// A later schema that does not exist yet.
constexpr int32_t kNext = kSchemaVersion + 1;
constexpr Migration kToNext[] = {
    {kSchemaVersion, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''"}};
constexpr Migration kBroken[] = {
    {kSchemaVersion, "ALTER TABLE run ADD COLUMN note TEXT; DROP TABLE no_such_table"}};

const std::string kOldName = "schema " + std::to_string(kSchemaVersion);
const std::string kNextName = "schema " + std::to_string(kNext);

struct Fixture {
  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  std::string backup = path + ".schema" + std::to_string(kSchemaVersion) + ".backup";

  Fixture() { Store::open(path, OpenMode::kReadWrite).begin_run(sample_run()); }
};

int64_t integer(const std::string& file, const std::string& sql) {
  return SQLite::Database(file).execAndGet(sql).getInt64();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_migration_keeps_the_rows_and_leaves_a_backup_of_the_old_schema, Fixture) {
  {
    Connection connection(path, OpenMode::kReadWrite);
    prepare_for_writing(connection, kNext, kToNext);
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == kNext);
  BOOST_TEST(integer(path, "SELECT count(*) FROM run WHERE note = ''") == 1);
  BOOST_TEST(integer(backup, "PRAGMA user_version") == kSchemaVersion);
  BOOST_TEST(integer(backup, "PRAGMA application_id") == kApplicationId);
  BOOST_TEST(integer(backup, "SELECT count(*) FROM run") == 1);
  BOOST_CHECK_THROW(Store::open(path, OpenMode::kReadWrite), Error);
  Store::open(backup, OpenMode::kReadOnly);
}

// The tables as schema 3 had them.
constexpr const char* kBackToSchema3 =
    "PRAGMA foreign_keys = OFF;"
    "DROP VIEW v_best; DROP VIEW v_regressions; DROP VIEW v_failures; DROP VIEW v_losses;"
    "CREATE TABLE candidate_3 (id INTEGER PRIMARY KEY, variant TEXT NOT NULL,"
    " splits INTEGER NOT NULL, tile_n INTEGER NOT NULL, stages INTEGER NOT NULL,"
    " wait TEXT NOT NULL CHECK (wait IN ('drain', 'partial')),"
    " \"order\" TEXT NOT NULL CHECK (\"order\" IN ('batch_major', 'split_major')),"
    " stage1_warps INTEGER NOT NULL, stage2_tiles INTEGER NOT NULL, stage2_warps INTEGER NOT NULL,"
    " schedule TEXT NOT NULL CHECK (schedule IN ('uniform', 'persistent')),"
    " UNIQUE (variant, splits, tile_n, stages, wait, \"order\", stage1_warps, stage2_tiles,"
    " stage2_warps, schedule)) STRICT;"
    "INSERT INTO candidate_3 SELECT id, variant, splits, tile_n, stages, wait, \"order\","
    " stage1_warps, stage2_tiles, stage2_warps, schedule FROM candidate;"
    "DROP TABLE candidate;"
    "ALTER TABLE candidate_3 RENAME TO candidate;"
    "CREATE VIEW v_best AS SELECT splits FROM candidate;"
    "CREATE VIEW v_losses AS SELECT loss FROM loss;"
    "PRAGMA user_version = 3;";

// And as schema 2 had them.
constexpr const char* kBackToSchema2 =
    "PRAGMA foreign_keys = OFF; DROP VIEW v_best; DROP VIEW v_losses; DROP TABLE loss;"
    "CREATE TABLE round_2 (id INTEGER PRIMARY KEY,"
    " tuning_id INTEGER NOT NULL REFERENCES tuning (id),"
    " phase TEXT NOT NULL CHECK (phase = 'search' OR phase IN ('semifinal', 'final')),"
    " rung INTEGER NOT NULL, round INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    " UNIQUE (tuning_id, phase, attempt, rung, round)) STRICT;"
    "INSERT INTO round_2 SELECT * FROM round;"
    "DROP TABLE round;"
    "ALTER TABLE round_2 RENAME TO round;"
    "PRAGMA user_version = 2;";

// And as schema 1 had them.
constexpr const char* kBackToSchema1 =
    "CREATE TABLE candidate_1 (id INTEGER PRIMARY KEY, variant TEXT NOT NULL,"
    " splits INTEGER NOT NULL, tile_n INTEGER NOT NULL, stages INTEGER NOT NULL,"
    " wait TEXT NOT NULL CHECK (wait IN ('drain', 'partial')),"
    " \"order\" TEXT NOT NULL CHECK (\"order\" IN ('batch_major', 'split_major')),"
    " stage1_warps INTEGER NOT NULL, stage2_tiles INTEGER NOT NULL, stage2_warps INTEGER NOT NULL,"
    " UNIQUE (variant, splits, tile_n, stages, wait, \"order\", stage1_warps, stage2_tiles,"
    " stage2_warps)) STRICT;"
    "INSERT INTO candidate_1 SELECT id, variant, splits, tile_n, stages, wait, \"order\","
    " stage1_warps, stage2_tiles, stage2_warps FROM candidate;"
    "DROP TABLE candidate;"
    "ALTER TABLE candidate_1 RENAME TO candidate;"
    "CREATE VIEW v_best AS SELECT splits FROM candidate;"
    "PRAGMA user_version = 1";

BOOST_FIXTURE_TEST_CASE(a_file_of_schema_1_keeps_its_winners_and_takes_persistent_ones, Fixture) {
  const KernelConfig base = make_space(sample_device()).neutral();
  WinnerRecord winner = sample_winner(sample_problem(), base);
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    store.finish_tuning(store.open_tuning(1, sample_key()).id, winner);
  }
  SQLite::Database(path, SQLite::OPEN_READWRITE)
      .exec(std::string(kBackToSchema3) + kBackToSchema2 + kBackToSchema1);
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    BOOST_TEST_REQUIRE(store.summaries().size() == 1u);
    BOOST_TEST(to_text(store.summaries()[0].winner.config) == to_text(winner.config));
    TuningKey key = sample_key();
    BOOST_TEST_REQUIRE(known_device("H200", &key.device));
    const KernelConfig uniform = parse_config("splits=8", make_space(key.device).neutral());
    winner.config = parse_config("stage1_warps=4 schedule=persistent", uniform);
    winner.default_config = winner.finalist = uniform;
    store.finish_tuning(store.open_tuning(1, key).id, winner);
    BOOST_TEST_REQUIRE(store.summaries().size() == 2u);
    for (const Store::CheckRow& row : store.check())
      BOOST_TEST(row.ok, row.check << ": " << row.detail);
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == kSchemaVersion);
  BOOST_TEST(integer(path, "SELECT count(*) FROM candidate WHERE schedule = 'persistent'") == 1);
  BOOST_TEST(integer(path, "SELECT count(*) FROM v_best WHERE schedule = 'persistent'") == 1);
  BOOST_TEST(integer(path + ".schema1.backup", "PRAGMA user_version") == 1);
}

BOOST_FIXTURE_TEST_CASE(a_file_of_schema_2_keeps_its_rounds_and_takes_losses, Fixture) {
  const KernelConfig base = make_space(sample_device()).neutral();
  const WinnerRecord winner = sample_winner(sample_problem(), base);
  int64_t tuning_id = 0;
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    tuning_id = store.open_tuning(1, sample_key()).id;
    store.save_round(tuning_id, sample_round(0, 3, base));
    store.finish_tuning(tuning_id, winner);
  }
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec(std::string(kBackToSchema3) + kBackToSchema2);
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    BOOST_TEST_REQUIRE(store.load_rounds(tuning_id).size() == 1u);
    BOOST_TEST(store.load_rounds(tuning_id)[0].samples.size() == 3u);
    BOOST_TEST(store.load_losses(tuning_id).empty());
    RoundRecord cross = sample_round(0, 2, base);
    cross.phase = Phase::kCross;
    store.save_round(tuning_id, cross);
    store.save_losses(tuning_id, {{winner.config, 0.002, 0.001, 0.003, 15, 3, 5, 0.001}});
    for (const Store::CheckRow& row : store.check())
      BOOST_TEST(row.ok, row.check << ": " << row.detail);
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == kSchemaVersion);
  BOOST_TEST(integer(path, "SELECT count(*) FROM v_losses WHERE rounds = 15") == 1);
  BOOST_TEST(integer(path + ".schema2.backup", "PRAGMA user_version") == 2);
}

BOOST_FIXTURE_TEST_CASE(a_file_of_schema_3_keeps_its_losses_and_takes_wider_row_groups, Fixture) {
  const KernelConfig base = make_space(sample_device()).neutral();
  KernelConfig wide = base;
  wide.group_rows = 32;
  const WinnerRecord winner = sample_winner(sample_problem(), base);
  int64_t tuning_id = 0;
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    tuning_id = store.open_tuning(1, sample_key()).id;
    store.finish_tuning(tuning_id, winner);
    store.save_losses(tuning_id, {{winner.config, 0.002, 0.001, 0.003, 15, 3, 5, 0.001}});
  }
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec(kBackToSchema3);
  {
    Store store = Store::open(path, OpenMode::kReadWrite);
    BOOST_TEST_REQUIRE(store.summaries().size() == 1u);
    BOOST_TEST(to_text(store.summaries()[0].winner.config) == to_text(winner.config));
    BOOST_TEST(store.load_losses(tuning_id).size() == 1u);
    store.save_outcome(tuning_id, {wide, {OutcomeKind::kFault, ""}, 1});
    store.save_outcome(tuning_id, {base, {OutcomeKind::kFault, ""}, 1});
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == kSchemaVersion);
  BOOST_TEST(integer(path, "SELECT count(*) FROM v_failures WHERE group_rows = 32") == 1);
  BOOST_TEST(integer(path, "SELECT count(*) FROM v_failures WHERE group_rows = 16") == 1);
  BOOST_TEST(integer(path + ".schema3.backup", "PRAGMA user_version") == 3);
}

BOOST_FIXTURE_TEST_CASE(a_migration_that_fails_changes_nothing, Fixture) {
  {
    Connection connection(path, OpenMode::kReadWrite);
    BOOST_CHECK_THROW(prepare_for_writing(connection, kNext, kBroken), Error);
  }
  BOOST_TEST(integer(path, "PRAGMA user_version") == kSchemaVersion);
  BOOST_TEST(integer(path, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'note'") ==
             0);
  Store::open(path, OpenMode::kReadWrite);
}

BOOST_FIXTURE_TEST_CASE(an_older_schema_is_not_migrated_by_a_reader, Fixture) {
  Connection connection(path, OpenMode::kReadOnly);
  BOOST_CHECK_EXCEPTION(require_schema(connection, kNext), Error, [](const Error& e) {
    return std::string(e.what()).find(kOldName + ", older than " + kNextName) != std::string::npos;
  });
  BOOST_TEST(!std::filesystem::exists(backup));
}

BOOST_FIXTURE_TEST_CASE(an_open_writer_stops_when_the_file_is_migrated_under_it, Fixture) {
  Store old = Store::open(path, OpenMode::kReadWrite);
  {
    Connection connection(path, OpenMode::kReadWrite);
    prepare_for_writing(connection, kNext, kToNext);
  }
  BOOST_CHECK_EXCEPTION(old.begin_run(sample_run()), Error, [](const Error& e) {
    return std::string(e.what()).find(kNextName + ", newer than " + kOldName) != std::string::npos;
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
  for (const Phase phase : {Phase::kSearch, Phase::kSemifinal, Phase::kFinal, Phase::kCross}) {
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
  store.save_losses(id, {{base, 0.02, 0.01, 0.03, 15, 0, 14, 0.001}});
  for (const char* view : {"v_best", "v_regressions", "v_failures", "v_losses"}) {
    BOOST_TEST(integer(path, std::string("SELECT count(*) FROM ") + view) == 1, view);
  }
}

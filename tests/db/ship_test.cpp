// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE ship
#include "db/ship.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "db/sha256.h"
#include "db/snapshot.h"
#include "db/winner_text.h"
#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  Fixture() {
    Store store = Store::open(source, OpenMode::kReadWrite);
    const KernelConfig base = make_space(sample_device()).neutral();
    for (const int32_t batch : {4, 8}) {
      const int64_t id = store.open_tuning(store.begin_run(sample_run()), sample_key(batch)).id;
      store.save_round(id, sample_round(0, 8, base));
      store.finish_tuning(id, sample_winner(sample_problem(batch), base));
    }
  }

  void execute(const std::string& path, const std::string& sql) {
    SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
  }

  void expect_refused(const std::string& reason) {
    BOOST_CHECK_EXCEPTION(ship(source, target, "test"), Error, [&](const Error& error) {
      return error.code() == ErrorCode::kDatabase &&
             std::string(error.what()).find(reason) != std::string::npos;
    });
    for (const auto& entry : fs::directory_iterator(directory.path())) {
      BOOST_TEST(entry.path().string().rfind(target, 0) != 0u, entry.path().string());
    }
  }

  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void flip(const std::string& path, std::streamoff at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  }

  static std::string exported(const std::string& path) {
    return export_winners(Store::open(path, OpenMode::kReadOnly));
  }

  static bool sound(const std::string& path) {
    for (const Store::CheckRow& row : Store::open(path, OpenMode::kReadOnly).check()) {
      if (!row.ok) return false;
    }
    return true;
  }

  TemporaryDirectory directory;
  const std::string source = directory.file("tuning.db");
  const std::string target = directory.file("shipped.db");
};

std::string sha256(const std::string& text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

}  // namespace

BOOST_AUTO_TEST_CASE(sha256_gives_the_published_values) {
  BOOST_TEST(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  BOOST_TEST(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(sha256(std::string(1'000'000, 'a')) ==
             "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

BOOST_FIXTURE_TEST_SUITE(shipping, Fixture)

BOOST_AUTO_TEST_CASE(a_shipped_file_holds_what_the_source_holds_and_the_source_stays) {
  const std::string before = exported(source);
  const DatabaseInfo old = Store::open(source, OpenMode::kReadOnly).info();
  const Shipped shipped = ship(source, target, "test 1");
  BOOST_TEST(shipped.winners == 2);
  BOOST_TEST(exported(target) == before);
  BOOST_TEST(exported(source) == before);
  BOOST_TEST(Store::open(source, OpenMode::kReadOnly).info().database_id == old.database_id);
  BOOST_TEST(sound(target));
}

BOOST_AUTO_TEST_CASE(it_says_where_it_comes_from) {
  const Shipped shipped = ship(source, target, "test 1");
  const DatabaseInfo info = Store::open(target, OpenMode::kReadOnly).info();
  const DatabaseInfo parent = Store::open(source, OpenMode::kReadOnly).info();
  BOOST_TEST(info.database_id == shipped.database_id);
  BOOST_TEST(info.database_id != parent.database_id);
  BOOST_TEST(info.parents == parent.database_id);
  BOOST_TEST(info.shipped_by == "test 1");
  BOOST_TEST(info.shipped_utc.size() == 20u);
  BOOST_TEST(info.content_sha256 == shipped.content_sha256);
  BOOST_TEST(parent.content_sha256 == "");

  const std::string again = directory.file("again.db");
  const Shipped second = ship(target, again, "test 2");
  BOOST_TEST(second.content_sha256 == shipped.content_sha256);
  BOOST_TEST(Store::open(again, OpenMode::kReadOnly).info().parents ==
             parent.database_id + " " + shipped.database_id);
}

BOOST_AUTO_TEST_CASE(it_is_one_read_only_file_without_a_log) {
  ship(source, target, "test");
  BOOST_TEST(Store::open(target, OpenMode::kReadOnly).info().journal_mode == "delete");
  BOOST_TEST(((fs::status(target).permissions() & fs::perms::all) == fs::perms(0444)));
  for (const char* suffix : {"-wal", "-shm", "-journal"}) BOOST_TEST(!fs::exists(target + suffix));
}

BOOST_AUTO_TEST_CASE(a_file_in_its_place_is_not_replaced) {
  ship(source, target, "test");
  const DatabaseInfo first = Store::open(target, OpenMode::kReadOnly).info();
  BOOST_CHECK_THROW(ship(source, target, "test"), Error);
  BOOST_TEST(Store::open(target, OpenMode::kReadOnly).info().database_id == first.database_id);
}

BOOST_AUTO_TEST_CASE(a_source_with_a_row_that_cannot_be_used_is_not_shipped) {
  execute(source,
          "UPDATE candidate SET tile_n = 48 WHERE id = (SELECT min(config_id) FROM winner)");
  expect_refused("is damaged (knobs");
}

BOOST_AUTO_TEST_CASE(a_source_with_a_trigger_or_a_foreign_view_is_not_shipped) {
  execute(source, "CREATE VIEW evil AS SELECT 1");
  expect_refused("holds the view evil");
  execute(source, "DROP VIEW evil; CREATE TRIGGER evil AFTER INSERT ON winner BEGIN SELECT 1; END");
  expect_refused("holds the trigger evil");
}

BOOST_AUTO_TEST_CASE(a_missing_source_is_an_error_that_names_it) {
  BOOST_CHECK_EXCEPTION(
      ship(directory.file("none.db"), target, "test"), Error, [](const Error& error) {
        return std::string(error.what()).find("none.db") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(rows_that_were_changed_after_shipping_are_found) {
  ship(source, target, "test");
  fs::permissions(target, fs::perms::owner_write, fs::perm_options::add);
  execute(target, "UPDATE winner SET gain = 0.5 WHERE id = 1");
  BOOST_TEST(!sound(target));
}

BOOST_AUTO_TEST_CASE(a_bit_that_flipped_after_shipping_is_found_by_whoever_loads_the_file) {
  ship(source, target, "test");
  fs::permissions(target, fs::perms::owner_write, fs::perm_options::add);
  const auto load = [&] {
    load_snapshot(target, make_space(sample_device()), {[](const auto&) {}});
  };
  load();
  const auto of_a_row =
      static_cast<std::streamoff>(contents(target).find(sample_run().command_line));
  constexpr std::streamoff kOfTheHeader = 50;  // a size that SQLite no longer looks at
  for (const std::streamoff at : {kOfTheHeader, of_a_row}) {
    flip(target, at);
    BOOST_CHECK_EXCEPTION(load(), Error, [](const Error& error) {
      return std::string(error.what()).find("is not what was shipped") != std::string::npos;
    });
    BOOST_TEST(!sound(target));
    flip(target, at);
  }
  load();
}

BOOST_AUTO_TEST_CASE(a_shipped_file_that_is_written_again_is_a_tuning_database_like_any_other) {
  ship(source, target, "test");
  fs::permissions(target, fs::perms::owner_write, fs::perm_options::add);
  {
    Store store = Store::open(target, OpenMode::kReadWrite);
    store.begin_run(sample_run());
  }
  BOOST_TEST(sound(target));
  BOOST_TEST(Store::open(target, OpenMode::kReadOnly).info().content_sha256 == "");
}

BOOST_AUTO_TEST_SUITE_END()

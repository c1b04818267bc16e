// SPDX-License-Identifier: MIT
// Writes the seeds of fuzz_database: valid files of today's schema, so that a change of schema
// changes the seeds.
//
//   write_database_seeds FOLDER
//
// Pages of 512 bytes in rollback-journal form keep them small: libFuzzer mutates a short file far
// better.
#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "db/fake_winners.h"
#include "db/store.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"

namespace {

namespace fs = std::filesystem;
using mla::db::OpenMode;
using mla::db::Store;

void shrink(const std::string& path) {
  sqlite3* connection = nullptr;
  const bool shrunk = sqlite3_open(path.c_str(), &connection) == SQLITE_OK &&
                      sqlite3_exec(connection,
                                   "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM",
                                   nullptr,
                                   nullptr,
                                   nullptr) == SQLITE_OK;
  const std::string reason = sqlite3_errmsg(connection);
  sqlite3_close(connection);
  if (!shrunk) throw std::runtime_error(path + ": " + reason);
}

void write_empty(const std::string& path) {
  Store::open(path, OpenMode::kReadWrite);
}

void write_tuning(const std::string& path) {
  const mla::KernelConfig base = mla::make_space(mla::testing::sample_device()).neutral();
  Store store = Store::open(path, OpenMode::kReadWrite);
  const auto tuning =
      store.open_tuning(store.begin_run(mla::testing::sample_run()), mla::testing::sample_key());
  store.save_round(tuning.id, mla::testing::sample_round(0, 3, base));
  store.save_outcome(tuning.id, {base, {mla::OutcomeKind::kWrong, "token 0 head 0"}, 0});
  store.finish_tuning(tuning.id, mla::testing::sample_winner(mla::testing::sample_problem(), base));
}

void write_winners(const std::string& path) {
  mla::db::write_fake_winners(path, mla::testing::sample_device(), 4, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_database_seeds FOLDER\n", stderr);
    return 2;
  }
  const fs::path folder = argv[1];
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto write = [&](const char* name, void (*fill)(const std::string&)) {
    const std::string path = (folder / name).string();
    fill(path);
    shrink(path);
  };
  write("empty.db", write_empty);
  write("tuning.db", write_tuning);
  write("winners.db", write_winners);
  return 0;
}

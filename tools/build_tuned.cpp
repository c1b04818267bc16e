// SPDX-License-Identifier: MIT
// Makes the database that is installed with the program from the texts of tuned rows:
//   build_tuned OUT TEXT..
// Runs while the project is built; a text that cannot be believed ends the build.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "db/ship.h"
#include "db/winner_text.h"
#include "kernels/error.h"

namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw mla::Error(mla::ErrorCode::kUsage, path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void remove_database(const std::string& path) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) fs::remove(path + suffix);
}

void build(const std::string& target, int texts, char** paths) {
  const std::string collected = target + ".collected";
  remove_database(collected);
  for (int i = 0; i < texts; ++i) {
    mla::db::import_winners(read(paths[i]), paths[i], collected);
  }
  fs::remove(target);
  mla::db::ship(collected, target, "the build");
  remove_database(collected);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: build_tuned OUT TEXT..\n");
    return 2;
  }
  try {
    build(argv[1], argc - 2, argv + 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "build_tuned: %s\n", error.what());
    return 1;
  }
  return 0;
}

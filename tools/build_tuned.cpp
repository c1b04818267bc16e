// SPDX-License-Identifier: MIT
// Makes the database that is installed with the program from the texts of tuned rows:
//   build_tuned OUT TEXT..
// Runs while the project is built; a text that cannot be believed ends the build.
#include <cstdio>
#include <filesystem>

#include "db/ship.h"
#include "db/winner_text.h"
#include "tools/paths.h"

namespace {

void build(const std::string& target, int texts, char** paths) {
  const std::string collected = target + ".collected";
  mla::db::remove_database(collected);
  for (int i = 0; i < texts; ++i) {
    mla::db::import_winners(mla::tools::read_file(paths[i]), paths[i], collected);
  }
  std::filesystem::remove(target);
  mla::db::ship(collected, target, "the build");
  mla::db::remove_database(collected);
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

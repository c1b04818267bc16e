// SPDX-License-Identifier: MIT
// Writes the seeds of fuzz_winner_text: exports of today's code, one short and one with losses.
//
//   write_winner_text_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "db/store.h"
#include "db/winner_text.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

namespace {

using mla::db::OpenMode;
using mla::db::Store;
using namespace mla::testing;

std::string exported(bool with_loss) {
  const TemporaryDirectory directory;
  const mla::KernelConfig base = mla::make_space(sample_device()).neutral();
  Store store = Store::open(directory.file("seed.db"), OpenMode::kReadWrite);
  const int64_t id = store.open_tuning(store.begin_run(sample_run()), sample_key()).id;
  store.finish_tuning(id, sample_winner(sample_problem(), base));
  if (with_loss) {
    mla::db::LossRecord loss;
    loss.config = base;
    loss.loss = 0.01;
    loss.rounds = 15;
    store.save_losses(id, {loss});
  }
  return mla::db::export_winners(store);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_winner_text_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "winner.txt") << exported(false);
  std::ofstream(folder / "loss.txt") << exported(true);
  return 0;
}

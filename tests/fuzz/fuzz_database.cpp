// SPDX-License-Identifier: MIT
// libFuzzer target: the bytes are a database file that is read in every way there is. Seeds: small
// valid databases. An Error is an answer; a crash, a hang or another exception is a finding.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "db/snapshot.h"
#include "db/store.h"
#include "kernels/error.h"
#include "kernels/spaces.h"

namespace {

const std::string& file_path() {
  static const std::string path = "/tmp/mla-fuzz-database." + std::to_string(::getpid());
  return path;
}

mla::Space space() {
  mla::DeviceInfo device;
  device.arch = "gfx999";
  device.partition = "SPX";
  device.compute_units = 64;
  device.xcds = 2;
  return mla::make_space(device);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::ofstream(file_path(), std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const mla::db::Store store = mla::db::Store::open(file_path(), mla::db::OpenMode::kReadOnly);
    store.check();
    store.info();
    for (const auto& summary : store.summaries()) store.load_rounds(summary.tuning_id);
  } catch (const mla::Error&) {
  }
  static const mla::Space target = space();
  try {
    mla::db::load_snapshot(file_path(),
                           target,
                           {[](const mla::db::SnapshotRow& row) {
                              if (target.violation(row.problem, row.config)) __builtin_trap();
                            },
                            [](const mla::db::SnapshotLoss&) {}});
  } catch (const mla::Error&) {
  }
  ::unlink(file_path().c_str());
  return 0;
}

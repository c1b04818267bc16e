// SPDX-License-Identifier: MIT
// libFuzzer target: the bytes are the text of `db export`. Text that cannot be believed is an
// Error(kUsage) that leaves no database; what is accepted is exported and imported again as the
// same text.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "db/winner_text.h"
#include "kernels/error.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace mla::fuzz;
using namespace mla::db;

// A database that is gone when the test of one input is over.
class Scratch {
 public:
  explicit Scratch(const char* name)
      : path_("/tmp/mla-fuzz-" + std::string(name) + "." + std::to_string(::getpid())) {
    remove();
  }
  ~Scratch() { remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string exported() const { return export_winners(Store::open(path_, OpenMode::kReadOnly)); }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::error_code ignored;
      std::filesystem::remove(path_ + suffix, ignored);
    }
  }
  std::string path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Scratch first("first"), second("second");
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (import_winners(text, "fuzz", first.path()).added == 0) return 0;
  } catch (const mla::Error& error) {
    require(error.code() == mla::ErrorCode::kUsage);
    return 0;
  }
  const std::string text = first.exported();
  import_winners(text, "exported", second.path());
  require(second.exported() == text);
  return 0;
}

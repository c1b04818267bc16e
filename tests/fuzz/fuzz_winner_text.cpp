// SPDX-License-Identifier: MIT
// libFuzzer target: the bytes are the text of `db export`. Text that cannot be believed is an
// Error(kUsage) that adds no row, also of the lines before the bad one; what is accepted is
// exported and imported again as the same text.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "db/ship.h"
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
    remove_database(path_);
  }
  ~Scratch() { remove_database(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string exported() const { return export_winners(Store::open(path_, OpenMode::kReadOnly)); }

 private:
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
    require(Store::open(first.path(), OpenMode::kReadOnly).summaries().empty());
    return 0;
  }
  const std::string text = first.exported();
  import_winners(text, "exported", second.path());
  require(second.exported() == text);
  return 0;
}

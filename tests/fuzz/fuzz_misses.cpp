// SPDX-License-Identifier: MIT
// libFuzzer target: the bytes are what an engine wrote of its misses, or a list of shapes. Nothing
// but an Error(kUsage) may come of them, and a list made of misses is read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernels/error.h"
#include "tools/misses.h"

namespace {

using namespace mla::tools;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Function>
void expect_usage_errors_only(Function function) {
  try {
    function();
  } catch (const mla::Error& error) {
    require(error.code() == mla::ErrorCode::kUsage);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_usage_errors_only([&] {
    MissReader reader;
    reader.add(text, "fuzz");
    reader.add(text, "again");  // another process that missed the same
    const Misses misses = reader.result();
    for (const Miss& miss : misses.shapes) require(miss.share >= 0 && miss.count >= 0);
    misses_table(misses, {.width = 60});
    const std::string list = shapes_text(misses);
    expect_usage_errors_only([&] { require(!parse_shapes(list, "list").empty()); });
  });
  expect_usage_errors_only([&] { require(!parse_shapes(text, "fuzz").empty()); });
  return 0;
}

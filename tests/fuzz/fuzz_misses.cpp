// SPDX-License-Identifier: MIT
// libFuzzer target: the bytes are what an engine wrote of its misses, or a list of shapes. Nothing
// but an Error(kUsage) may come of them, and a list made of misses is read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/fuzz/expect.h"
#include "tools/misses.h"

namespace {

using namespace mla::fuzz;
using namespace mla::tools;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string list;
  std::ptrdiff_t listed = 0;  // a list holds the misses of known length
  expect_usage_errors_only([&] {
    MissReader reader;
    reader.add(text, "fuzz");
    reader.add(text, "again");  // another process that missed the same
    const Misses misses = reader.result();
    for (const Miss& miss : misses.shapes) require(miss.share >= 0 && miss.count >= 0);
    misses_table(misses, {.width = 60});
    list = shapes_text(misses);
    listed = std::count_if(misses.shapes.begin(), misses.shapes.end(), [](const Miss& miss) {
      return miss.problem.seq_len > 0;
    });
  });
  if (listed > 0) require(std::ssize(parse_shapes(list, "list")) == listed);
  expect_usage_errors_only([&] { require(!parse_shapes(text, "fuzz").empty()); });
  return 0;
}

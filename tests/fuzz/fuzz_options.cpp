// SPDX-License-Identifier: MIT
// The command line as hostile input: lines of the input are its words. Nothing but a usage error
// may come of it, lists stay within their bounds, and what is accepted is quoted so that it parses
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "kernels/problem.h"
#include "tools/options.h"
#include "tools/parse.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Function>
void expect_usage_errors_only(Function function) {
  try {
    function();
  } catch (const mla::Error& error) {
    require(error.code() == mla::ErrorCode::kUsage);
    require(*error.what() != '\0');
  }
}

void check_values(const std::string& text) {
  using namespace mla::tools;
  expect_usage_errors_only([&] {
    const std::vector<int64_t> values = parse_list(text, 1, mla::kMaxSeqLen);
    require(!values.empty() && values.size() <= kMaxListValues);
    for (const int64_t value : values) require(value >= 1 && value <= mla::kMaxSeqLen);
  });
  expect_usage_errors_only([&] { require(parse_duration_s(text) > 0); });
  expect_usage_errors_only([&] { require(parse_shared_prefix(text).group >= 1); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> words = mla::tools::split(input, '\n');
  expect_usage_errors_only([&] {
    const mla::tools::Options options = mla::tools::parse_options(words);
    require(options.command_line.rfind("mla-tune ", 0) == 0);
  });
  for (const std::string& word : words) check_values(word);
  return 0;
}

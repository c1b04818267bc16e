// SPDX-License-Identifier: MIT
// The command line as hostile input: lines of the input are its words. Nothing but a usage error
// may come of it, lists stay within their bounds, and what is accepted is quoted so that a shell
// reads the same words again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.h"
#include "tests/fuzz/expect.h"
#include "tools/options.h"
#include "tools/parse.h"

namespace {

using namespace mla::fuzz;

// As a shell takes `line` apart, of whose quoting shell_quoted() uses '...' and a backslash.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words(1);
  bool in_quotes = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'') {
      in_quotes = !in_quotes;
    } else if (in_quotes) {
      words.back() += c;
    } else if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c == '\\' && i + 1 < line.size() ? line[++i] : c;
    }
  }
  return words;
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
  expect_usage_errors_only([&] {
    const Shard shard = parse_shard(text);
    require(shard.index >= 0 && shard.index < shard.count);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> words = mla::tools::split(input, '\n');
  expect_usage_errors_only([&] {
    const mla::tools::Options options = mla::tools::parse_options(words);
    std::vector<std::string> expected = {"mla-tune"};
    expected.insert(expected.end(), words.begin(), words.end());
    require(shell_words(options.command_line) == expected);
  });
  for (const std::string& word : words) check_values(word);
  return 0;
}

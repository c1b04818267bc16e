// SPDX-License-Identifier: MIT
// Fuzzes the text forms of kernels/: every text is either a usage error or a value whose own text
// parses to the same value again, with the same hash. The texts are keys of the database, so two
// texts of one value would be two rows.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "kernels/config.h"
#include "kernels/error.h"
#include "kernels/outcome.h"
#include "kernels/problem.h"
#include "kernels/shape_key.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace mla::fuzz;

template <class Value, class Parse>
void check_round_trip(const Value& value, Parse parse) {
  const std::string text = to_text(value);
  const Value again = parse(text);
  require(again == value);
  require(to_text(again) == text);
  require(std::hash<Value>()(again) == std::hash<Value>()(value));
}

template <class Parse>
void check_text(std::string_view text, Parse parse) {
  try {
    check_round_trip(parse(text), parse);
  } catch (const mla::Error& error) {
    require(error.code() == mla::ErrorCode::kUsage);
    require(std::string_view(error.what()).size() < 1000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_text(text, [](std::string_view t) { return mla::parse_config(t); });
  check_text(text, [](std::string_view t) {
    const mla::Problem problem = mla::parse_problem(t);
    require((mla::exact_key(problem) == mla::kNoKey) == (problem.seq_len == 0));
    return problem;
  });
  mla::OutcomeKind kind{};
  if (mla::parse_outcome_kind(text, &kind)) require(mla::name(kind) == text);
  return 0;
}

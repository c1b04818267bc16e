// SPDX-License-Identifier: MIT
// Strict parsers for the values of command line options. Every failure is an Error(kUsage) whose
// text names the value and what is legal; the option parser puts the flag in front.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mla::tools {

// More values than this in one list are a mistake rather than a plan.
inline constexpr size_t kMaxListValues = 4096;

// A whole decimal number within [low, high]: no sign but '-', no blanks, nothing after the digits.
int64_t parse_int(std::string_view text, int64_t low, int64_t high);

// Comma separated numbers and ranges, in the order written, each value once:
//   1,2,8          as they are
//   1..8           every number from 1 to 8
//   1024:65536:x2  from 1024, doubling, up to 65536
//   8:64:+8        from 8 in steps of 8, up to 64
std::vector<int64_t> parse_list(std::string_view text, int64_t low, int64_t high);

// "90s", "5m", "1h" or a plain number of seconds; fractions are allowed ("1.5m"). Greater than 0
// and at most 1000 h.
double parse_duration_s(std::string_view text);

struct SharedPrefix {
  int64_t rows = 0;
  int32_t group = 8;
};
// ROWS or ROWS/GROUP.
SharedPrefix parse_shared_prefix(std::string_view text);

// One part of a list that is dealt in turn to `count` parts.
struct Shard {
  int64_t index = 0;  // from 0
  int64_t count = 1;
};
// "0/4" to "3/4".
Shard parse_shard(std::string_view text);

// One of `choices`, written "small|large". Names the nearest one where `text` is none of them.
std::string parse_choice(std::string_view text, std::string_view choices);

std::vector<std::string> split(std::string_view text, char separator);

// The candidate closest to `text` by edit distance; empty where none is close enough to be meant.
std::string nearest_name(std::string_view text, const std::vector<std::string>& candidates);

// ", did you mean 'batch'?" or nothing.
std::string hint(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace mla::tools

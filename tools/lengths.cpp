// SPDX-License-Identifier: MIT
#include "tools/lengths.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>

#include "kernels/error.h"
#include "kernels/text.h"
#include "tuner/robust.h"

namespace mla::tools {
namespace {

struct Octave {
  double rows = 0;  // of all requests
  double requests = 0;
};

bool parse_line(std::string_view line, int64_t* rows, int64_t* count) {
  std::string_view rest = line;
  return mla::parse_int(next_word(&rest), rows) && mla::parse_int(next_word(&rest), count) &&
         next_word(&rest).empty() && *rows >= 1 && *rows <= kMaxSeqLen && *count >= 1;
}

}  // namespace

std::vector<tuner::LengthShare> read_lengths(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::kUsage, path + ": cannot be read");
  std::map<int, Octave> octaves;
  double requests = 0;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const std::string text = line.substr(0, line.find('#'));
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    int64_t rows = 0, count = 0;
    if (!parse_line(text, &rows, &count)) {
      throw Error(ErrorCode::kUsage,
                  path + ":" + std::to_string(number) + ": " + in_quotes(line) +
                      " is not a number of rows and how many requests have it");
    }
    Octave& octave = octaves[std::bit_width(static_cast<uint64_t>(rows))];
    octave.rows += static_cast<double>(rows) * static_cast<double>(count);
    octave.requests += static_cast<double>(count);
    requests += static_cast<double>(count);
  }
  if (octaves.empty()) throw Error(ErrorCode::kUsage, path + ": holds no lengths");
  std::vector<tuner::LengthShare> lengths;
  for (const auto& [bits, octave] : octaves) {
    lengths.push_back({static_cast<int64_t>(std::ceil(octave.rows / octave.requests)),
                       octave.requests / requests});
  }
  return lengths;
}

std::vector<tuner::LengthShare> chosen_lengths(const Options& options) {
  if (!options.lengths.empty()) {
    if (!options.seq_len.empty()) {
      throw Error(ErrorCode::kUsage, "--lengths: takes the place of --seq-len");
    }
    return read_lengths(options.lengths);
  }
  if (!options.unknown_length) return {};
  if (options.seq_len.empty()) return tuner::default_lengths();
  std::vector<int64_t> ascending = options.seq_len;
  std::sort(ascending.begin(), ascending.end());
  std::vector<tuner::LengthShare> lengths;
  for (const int64_t seq_len : ascending) lengths.push_back({seq_len, 1});
  return lengths;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Which shapes an evaluation takes.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "db/store.h"
#include "kernels/error.h"
#include "kernels/text.h"
#include "kernels/workload.h"
#include "tools/evaluate.h"

namespace mla::tools {
namespace {

// Draws that hit a tuned or drawn shape before the family counts as used up.
constexpr int kMaxMisses = 1000;

// What a family's shapes have in common, and their range.
struct Range {
  Problem common;
  int32_t low_batch = kMaxBatch, high_batch = 1;
  int64_t low_length = kMaxSeqLen, high_length = 1;
};

int64_t log_uniform(int64_t low, int64_t high, uint64_t random) {
  const double share = static_cast<double>(random >> 11) * 0x1p-53;
  const double value = static_cast<double>(low) *
                       std::pow(static_cast<double>(high) / static_cast<double>(low), share);
  return std::clamp<int64_t>(std::llround(value), low, high);
}

}  // namespace

std::vector<Problem> tuned_problems(const std::vector<std::string>& databases,
                                    const DeviceInfo& device) {
  std::unordered_set<Problem> seen;
  std::vector<Problem> problems;
  for (const std::string& path : databases) {
    for (const db::TuningSummary& summary :
         db::Store::open(path, db::OpenMode::kReadOnly).summaries()) {
      const Problem& problem = summary.winner.problem;
      if (device_key(summary.device) != device_key(device)) continue;
      if (seen.insert(problem).second) problems.push_back(problem);
    }
  }
  return problems;
}

std::vector<Problem> draw_held_out(const std::vector<Problem>& tuned, size_t count, uint64_t seed) {
  std::map<ShapeKey, Range> families;
  for (const Problem& problem : tuned) {
    if (family_key(problem) == kNoKey) continue;  // of unknown length
    Range& range = families[family_key(problem)];
    range.common = problem;
    range.low_batch = std::min(range.low_batch, problem.batch);
    range.high_batch = std::max(range.high_batch, problem.batch);
    range.low_length = std::min(range.low_length, problem.seq_len);
    range.high_length = std::max(range.high_length, problem.seq_len);
  }
  if (families.empty()) return {};
  std::unordered_set<Problem> taken(tuned.begin(), tuned.end());
  std::vector<Problem> drawn;
  uint64_t state = mix64(seed);
  const auto next = [&state] { return state = mix64(state); };
  for (int misses = 0; drawn.size() < count && misses < kMaxMisses;) {
    const Range& range =
        std::next(families.begin(), static_cast<std::ptrdiff_t>(next() % families.size()))->second;
    Problem problem = range.common;
    problem.batch = static_cast<int32_t>(log_uniform(range.low_batch, range.high_batch, next()));
    problem.seq_len = log_uniform(range.low_length, range.high_length, next());
    const bool fits = problem.shared_prefix <= problem.seq_len;
    if (fits && taken.insert(problem).second) {
      drawn.push_back(problem);
      misses = 0;
    } else {
      ++misses;
    }
  }
  return drawn;
}

}  // namespace mla::tools

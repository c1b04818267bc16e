// SPDX-License-Identifier: MIT
#include "tools/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/error.h"

namespace mla::tools {
namespace {

constexpr size_t kMaxProblems = 10'000;

std::vector<Problem> product(const Grid& grid) {
  std::vector<Problem> problems;
  for (const int64_t nhead : grid.nhead) {
    for (const int64_t q_len : grid.q_len) {
      for (const int64_t page_size : grid.page_size) {
        for (const int64_t seq_len : grid.seq_len) {
          for (const int64_t batch : grid.batch) {
            Problem problem;
            problem.batch = static_cast<int32_t>(batch);
            problem.nhead = static_cast<int32_t>(nhead);
            problem.seq_len = seq_len;
            problem.q_len = static_cast<int32_t>(q_len);
            problem.page_size = static_cast<int32_t>(page_size);
            problem.shared_prefix = grid.shared_prefix.rows;
            problem.share_group = grid.shared_prefix.group;
            problem.imbalance = grid.imbalance;
            problem.pool = grid.pool;
            problems.push_back(problem);
          }
        }
      }
    }
  }
  return problems;
}

}  // namespace

Grid preset(const std::string& name) {
  Grid grid;
  if (name == "quick") {
    grid.batch = {1, 4};
    grid.seq_len = {1024, 4096};
  } else if (name == "seed") {  // the shapes of the published MI355X sweep
    grid.batch = {1, 2, 4, 8, 16, 24, 48};
    grid.seq_len = {68000};
    grid.shared_prefix = {63240, 8};
  } else if (name == "serving") {
    grid.batch = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};
    grid.nhead = {16, 128};
    grid.seq_len = {2048, 8192, 16384, 32768, 65536};
    grid.page_size = {64};
  } else {
    throw Error(ErrorCode::kUsage, fmt::format("--preset: {} is for bench", name));
  }
  return grid;
}

Grid grid_of(const Options& options, const Grid& defaults) {
  Grid grid = options.preset.empty() ? defaults : preset(options.preset);
  const auto replace = [](const std::vector<int64_t>& given, std::vector<int64_t>* list) {
    if (!given.empty()) *list = given;
  };
  replace(options.batch, &grid.batch);
  replace(options.nhead, &grid.nhead);
  replace(options.seq_len, &grid.seq_len);
  replace(options.q_len, &grid.q_len);
  replace(options.page_size, &grid.page_size);
  if (options.shared_prefix) grid.shared_prefix = *options.shared_prefix;
  if (options.imbalance) grid.imbalance = *options.imbalance;
  if (!options.pool.empty()) {
    grid.pool = options.pool == name(PoolClass::kLarge) ? PoolClass::kLarge : PoolClass::kSmall;
  }
  return grid;
}

std::vector<Problem> problems_of(const Grid& grid) {
  const size_t count = grid.batch.size() * grid.nhead.size() * grid.seq_len.size() *
                       grid.q_len.size() * grid.page_size.size();
  if (count > kMaxProblems) {
    throw Error(ErrorCode::kUsage,
                fmt::format("the lists make {} shapes; {} at most", count, kMaxProblems));
  }
  std::vector<Problem> problems = product(grid);
  for (const Problem& problem : problems) validate(problem);
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return decode_flops(a) < decode_flops(b);
  });
  return problems;
}

bool names_shapes(const Options& options) {
  return !options.preset.empty() || !options.batch.empty() || !options.nhead.empty() ||
         !options.seq_len.empty() || !options.q_len.empty() || !options.page_size.empty() ||
         options.shared_prefix || options.imbalance || !options.pool.empty();
}

}  // namespace mla::tools

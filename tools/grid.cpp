// SPDX-License-Identifier: MIT
#include "tools/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/error.h"

namespace mla::tools {
namespace {

constexpr size_t kMaxProblems = 10'000;

// Each of `problems` with each value of a list in turn, the later list varying fastest.
template <class Value, class Set>
std::vector<Problem> times(const std::vector<Problem>& problems,
                           const std::vector<Value>& list,
                           const Set& set) {
  std::vector<Problem> product;
  for (const Problem& problem : problems) {
    for (const Value& value : list) {
      product.push_back(problem);
      set(&product.back(), value);
    }
  }
  return product;
}

std::vector<Problem> product(const Grid& grid) {
  Problem common;
  common.kv_dtype = grid.kv_dtype;
  common.imbalance = grid.imbalance;
  common.pool = grid.pool;
  std::vector<Problem> problems = {common};
  const auto counts = [&problems](const std::vector<int64_t>& list, int32_t Problem::*member) {
    problems = times(problems, list, [member](Problem* problem, int64_t value) {
      problem->*member = static_cast<int32_t>(value);
    });
  };
  problems = times(problems, grid.shared_prefix, [](Problem* problem, const SharedPrefix& prefix) {
    problem->shared_prefix = prefix.rows;
    problem->share_group = prefix.group;
  });
  counts(grid.nhead, &Problem::nhead);
  counts(grid.q_len, &Problem::q_len);
  counts(grid.page_size, &Problem::page_size);
  problems = times(
      problems, grid.seq_len, [](Problem* problem, int64_t rows) { problem->seq_len = rows; });
  counts(grid.batch, &Problem::batch);
  return problems;
}

}  // namespace

Grid preset(const std::string& name) {
  Grid grid;
  if (name == "quick") {
    grid.batch = {1, 4};
    grid.seq_len = {1024, 4096};
  } else if (name == "seed") {  // the shapes of the published MI355X sweep, shared and not
    grid.batch = {1, 2, 4, 8, 16, 24, 32, 48};
    grid.seq_len = {68000};
    grid.shared_prefix = {{63240, 8}, {}};
  } else if (name == "serving") {
    grid.batch = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};
    grid.nhead = {16, 128};
    grid.seq_len = {2048, 8192, 16384, 32768, 65536};
    grid.page_size = {64};
  } else if (name == kShippedPreset) {
    grid.batch = {1, 2, 4, 8, 16, 32, 64, 128};
    grid.nhead = {8, 12, 16, 32, 64, 128};
    grid.seq_len = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
    grid.q_len = {1, 2};
    grid.page_size = {1, 64};
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
  if (options.kv_dtype) grid.kv_dtype = *options.kv_dtype;
  if (options.shared_prefix) grid.shared_prefix = {*options.shared_prefix};
  if (options.imbalance) grid.imbalance = *options.imbalance;
  if (!options.pool.empty()) {
    grid.pool = options.pool == name(PoolClass::kLarge) ? PoolClass::kLarge : PoolClass::kSmall;
  }
  return grid;
}

std::vector<Problem> problems_of(const Grid& grid) {
  const size_t count = grid.batch.size() * grid.nhead.size() * grid.seq_len.size() *
                       grid.q_len.size() * grid.page_size.size() * grid.shared_prefix.size();
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
         options.kv_dtype || options.shared_prefix || options.imbalance || !options.pool.empty();
}

}  // namespace mla::tools

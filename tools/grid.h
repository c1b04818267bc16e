// SPDX-License-Identifier: MIT
// Which problems a command line means: the product of its lists, over a preset or the verb's
// defaults.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/problem.h"
#include "tools/options.h"

namespace mla::tools {

struct Grid {
  std::vector<int64_t> batch = {1};
  std::vector<int64_t> nhead = {12};
  std::vector<int64_t> seq_len = {4096};  // {0}: unknown
  std::vector<int64_t> q_len = {1};
  std::vector<int64_t> page_size = {1};
  std::vector<SharedPrefix> shared_prefix = {{}};
  KvDtype kv_dtype = KvDtype::kBf16;
  int32_t imbalance = 1;
  PoolClass pool = PoolClass::kSmall;
};

// Not a grid: its shapes and goals are in roof.h.
inline constexpr const char* kRoofPreset = "roof";

// The shapes of a database that is shipped, of known and of unknown length. Tuned by small
// searches, refined, riskiest first.
inline constexpr const char* kShippedPreset = "grid";

// Throws Error(kUsage) for a name that is no grid's.
Grid preset(const std::string& name);

// The grid that the command line describes: --preset, else `defaults`, with every list that was
// given in place of the grid's own.
Grid grid_of(const Options& options, const Grid& defaults);

// The product of the lists, each problem valid, those that read least first, so that a run shows
// results early. Throws Error(kUsage) naming the problem.
std::vector<Problem> problems_of(const Grid& grid);

// True where the command line says anything about shapes.
bool names_shapes(const Options& options);

}  // namespace mla::tools

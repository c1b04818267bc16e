// SPDX-License-Identifier: MIT
// The rows of database files as the table loader sorts and merges them. Private to policy/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/selection.h"
#include "policy/table_loader.h"

namespace mla::policy {

// What only buckets and the cells around a row ask for. Apart from the row, which is sorted twice.
struct Evidence {
  ShapeKey family = kNoKey;     // kNoKey for an unknown length
  uint64_t default_config = 0;  // pack_config() of the live default
  int64_t tuning_id = 0;
  Problem problem;
  float error = 0;      // Corner::error
  bool carries = true;  // Corner::carries
};

struct TunedRow {
  ShapeEntry entry;          // under its exact or robust key
  ShapeKey bucket = kNoKey;  // kNoKey for an unknown length
  SplitsNeed need;
  uint32_t evidence = 0;  // index
};

// A loss of tuning `tuning_id` of a file.
struct FileLoss {
  uint64_t file = 0;
  int64_t tuning_id = 0;
  KnownLoss loss;
};

struct LoadedRows {
  std::vector<TunedRow> rows;
  std::vector<Evidence> evidence;
  std::vector<FileLoss> losses;
  int64_t failed_files = 0;
  std::vector<std::string> warnings;  // at most one line per file
};

inline bool is_winner(Ruling ruling) {
  return ruling == Ruling::kWinner || ruling == Ruling::kVerifyAgain;
}

// In the order of the files. One that cannot be read at all leaves a warning and no rows.
LoadedRows load_rows(const std::vector<std::string>& paths,
                     const Space& space,
                     const DefaultPolicy& default_policy);

}  // namespace mla::policy

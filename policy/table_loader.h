// SPDX-License-Identifier: MIT
// From database files to what a lookup table holds: the overlay of files, what a length bucket
// answers, and the selection between tuned shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/space.h"
#include "policy/cell_table.h"
#include "policy/default_policy.h"
#include "policy/shape_table.h"

namespace mla::policy {

// The most splits that any row or cell of these batches, q_len and nhead asks for.
struct SplitsNeed {
  uint16_t first_batch = 0;
  uint16_t last_batch = 0;
  uint8_t q_len = 0;
  uint8_t nhead = 0;
  int32_t splits = 0;
};

struct LoadedEntries {
  std::vector<ShapeEntry> entries;  // exact, robust and bucket keys, each once
  CellTable cells;
  std::vector<SplitsNeed> needs;  // each (batches, q_len, nhead) once
  int64_t shapes = 0;             // exact and robust keys among `entries`
  uint64_t fingerprint = 0;       // of what is advised
  int64_t failed_files = 0;
  std::vector<std::string> warnings;  // at most one line per file
};

LoadedEntries load_entries(const std::vector<std::string>& paths,
                           const Space& space,
                           const DefaultPolicy& default_policy);

}  // namespace mla::policy

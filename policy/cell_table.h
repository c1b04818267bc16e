// SPDX-License-Identifier: MIT
// What the lookup knows between tuned shapes: the cells of shape_grid.h with their selections, made
// once when the databases are read. A lookup is three binary searches in small arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/problem.h"
#include "kernels/space.h"
#include "policy/selection.h"
#include "policy/shape_grid.h"

namespace mla::policy {

class CellTable {
 public:
  struct Cell {
    int32_t first_length, last_length;  // that it covers
    int32_t low_length, high_length;    // tuned around it
    int32_t low_batch, high_batch;
    uint32_t first_candidate;
    uint16_t candidates;
    Refusal refusal;  // where there are no candidates
  };

  // In the order of for_each_cell().
  void add(const GridCell& cell, const Selection& selection);

  // Null where no tuned shapes surround the problem. `family` is its family_key().
  const Cell* find(ShapeKey family, const Problem& problem) const noexcept;
  // Best first.
  std::span<const ShapeEntry> candidates(const Cell& cell) const noexcept {
    return {candidates_.data() + cell.first_candidate, cell.candidates};
  }

  void shrink();
  size_t memory_bytes() const;

 private:
  struct Family {
    ShapeKey key;
    uint32_t end_line;
  };
  struct Line {
    int32_t first_batch, last_batch;
    uint32_t end_cell;
  };

  std::vector<Family> families_;  // each ends where the next begins; so do lines
  std::vector<Line> lines_;
  std::vector<Cell> cells_;
  std::vector<ShapeEntry> candidates_;
};

// The tuned shape of the cell's corners that is nearest to `problem`, by ratio in both directions.
Problem nearest_corner(const CellTable::Cell& cell, const Problem& problem) noexcept;

// Batches or lengths more than kFarFactor apart.
bool is_far(const Problem& measured, const Problem& problem) noexcept;
// The same of waves or trips on the device of `space`, each with what is launched there.
bool waves_or_trips_differ(const Space& space,
                           const Problem& measured,
                           const KernelConfig& measured_config,
                           const Problem& problem,
                           const KernelConfig& config) noexcept;

// The rows that the longest workgroup of every wave walks, over those of the default. Blocks of a
// split come in whole numbers: a row more than they hold may make the walk of one a quarter longer
// and leave the other's what it was.
double walk_ratio(const Space& space,
                  const Problem& problem,
                  const KernelConfig& config,
                  const KernelConfig& default_config) noexcept;

}  // namespace mla::policy

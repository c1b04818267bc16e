// SPDX-License-Identifier: MIT
// The cells between tuned shapes. Shapes of one family (shape_key.h) form a grid over batch and
// length; a cell is what lies between neighbouring batches and neighbouring lengths, and its
// corners are the tuned shapes around it, and those among them. The tuner measures winners across
// the corners of a cell, the lookup answers from them: both ask here what the cells are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/shape_key.h"

namespace mla::policy {

// Of batches, lengths, waves or trips: no winner is carried further than this.
inline constexpr double kFarFactor = 1.5;

struct GridPoint {
  ShapeKey family = kNoKey;
  int32_t batch = 0;
  int64_t seq_len = 0;
};

inline GridPoint grid_point(const Problem& problem) {
  return {family_key(problem), problem.batch, problem.seq_len};
}

struct GridCell {
  ShapeKey family = kNoKey;
  // What the cell covers, both ends included.
  int32_t first_batch = 0, last_batch = 0;
  LengthRange lengths;
  // The tuned values around it. Lengths of one bucket count as one.
  int32_t low_batch = 0, high_batch = 0;
  int64_t low_length = 0, high_length = 0;
  std::vector<size_t> corners;  // indices of points
};

// Cells in ascending order of family, batch and length; no two of a family overlap. There is none
// where no shape fits between, where a bucket key answers (the very batch and a tuned length's
// bucket), and beyond the outermost shapes. Between two batches only lengths count that both have;
// where the nearest ones lack a length, those of the next batches that have it are the corners.
void for_each_cell(const std::vector<GridPoint>& points,
                   const std::function<void(const GridCell&)>& visit);

}  // namespace mla::policy

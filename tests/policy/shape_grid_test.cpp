// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE shape_grid
#include "policy/shape_grid.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

using namespace mla;
using namespace mla::policy;

namespace {

std::vector<GridCell> cells_of(const std::vector<GridPoint>& points) {
  std::vector<GridCell> cells;
  for_each_cell(points, [&](const GridCell& cell) { cells.push_back(cell); });
  return cells;
}

bool covers(const GridCell& cell, int32_t batch, int64_t seq_len) {
  return cell.first_batch <= batch && batch <= cell.last_batch && cell.lengths.first <= seq_len &&
         seq_len <= cell.lengths.last;
}

std::vector<size_t> sorted(std::vector<size_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Of the cell that covers a shape, ascending; none without one.
std::vector<size_t> corners_at(const std::vector<GridCell>& cells, int32_t batch, int64_t seq_len) {
  for (const GridCell& cell : cells)
    if (covers(cell, batch, seq_len)) return sorted(cell.corners);
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(four_shapes_have_a_cell_within_and_one_on_each_side) {
  const std::vector<GridPoint> points = {
      {3, 16, 4096}, {3, 24, 4096}, {3, 24, 16384}, {3, 16, 16384}};
  const std::vector<GridCell> cells = cells_of(points);
  BOOST_TEST(cells.size() == 5u);
  BOOST_TEST((corners_at(cells, 20, 8000) == std::vector<size_t>{0, 1, 2, 3}));
  BOOST_TEST((corners_at(cells, 16, 8000) == std::vector<size_t>{0, 3}));
  BOOST_TEST((corners_at(cells, 24, 8000) == std::vector<size_t>{1, 2}));
  BOOST_TEST((corners_at(cells, 20, 4100) == std::vector<size_t>{0, 1}));
  BOOST_TEST((corners_at(cells, 20, 16000) == std::vector<size_t>{2, 3}));
  // Where a bucket answers, and outside.
  for (const auto& [batch, seq_len] : {std::pair(16, 4100), {15, 8000}, {25, 8000}, {20, 3000}})
    BOOST_TEST(corners_at(cells, batch, seq_len).empty());
}

BOOST_AUTO_TEST_CASE(shapes_of_another_family_are_no_corners) {
  BOOST_TEST(cells_of({{3, 16, 4096}, {4, 24, 4096}}).empty());
}

BOOST_AUTO_TEST_CASE(neighbouring_batches_and_buckets_leave_no_cell) {
  BOOST_TEST(cells_of({{3, 16, 4096}, {3, 17, 4096}, {3, 16, 4870}}).empty());
}

// A tuner adds single shapes where winners disagree. They once hid the grid around them, so that a
// third of the shapes within it got the default as "not tuned".
BOOST_AUTO_TEST_CASE(a_shape_that_stands_alone_at_its_batch_hides_no_cell_of_its_neighbours) {
  const std::vector<GridPoint> points = {{3, 2, 512},
                                         {3, 2, 1024},
                                         {3, 2, 2048},
                                         {3, 3, 1024},
                                         {3, 8, 512},
                                         {3, 8, 1024},
                                         {3, 8, 2048}};
  const std::vector<GridCell> cells = cells_of(points);
  for (const int32_t batch : {3, 5}) {  // its winner counts where it is among the corners
    BOOST_TEST((corners_at(cells, batch, 700) == std::vector<size_t>{0, 1, 3, 4, 5}), batch);
    BOOST_TEST((corners_at(cells, batch, 1500) == std::vector<size_t>{1, 2, 3, 5, 6}), batch);
    BOOST_TEST((corners_at(cells, batch, 512) == std::vector<size_t>{0, 4}), batch);
  }
  BOOST_TEST(corners_at(cells, 3, 1024).empty());  // its bucket
  BOOST_TEST((corners_at(cells, 5, 1024) == std::vector<size_t>{3, 5}));
}

// Two lengths a factor of four apart once took the length between them from the batches around.
BOOST_AUTO_TEST_CASE(far_lengths_of_a_batch_hide_no_nearer_ones_of_its_neighbours) {
  const std::vector<GridPoint> points = {{3, 2, 2048},
                                         {3, 2, 4096},
                                         {3, 2, 8192},
                                         {3, 3, 2048},
                                         {3, 3, 8192},
                                         {3, 4, 2048},
                                         {3, 4, 4096},
                                         {3, 4, 8192}};
  const std::vector<GridCell> cells = cells_of(points);
  BOOST_TEST((corners_at(cells, 3, 4096) == std::vector<size_t>{1, 6}));
  BOOST_TEST((corners_at(cells, 3, 3000) == std::vector<size_t>{0, 1, 3, 5, 6}));
}

BOOST_AUTO_TEST_CASE(buckets_without_a_length_make_no_cell) {
  BOOST_TEST(cells_of({{3, 2, 1}, {3, 2, 2}}).empty());
}

BOOST_AUTO_TEST_CASE(cells_of_any_grid_never_overlap_and_lie_between_their_corners) {
  std::mt19937_64 random(11);
  for (int grid = 0; grid < 50; ++grid) {
    std::vector<GridPoint> points;
    for (int i = 0; i < 12; ++i)
      points.push_back({1 + random() % 2,
                        static_cast<int32_t>(1 + random() % 12),
                        int64_t{256} << random() % 5});
    const std::vector<GridCell> cells = cells_of(points);
    for (const GridCell& cell : cells) {
      BOOST_TEST(cell.first_batch <= cell.last_batch);
      BOOST_TEST(cell.lengths.first <= cell.lengths.last);
      BOOST_TEST(cell.corners.size() >= 2u);
      for (const size_t corner : cell.corners) {
        BOOST_TEST(points[corner].family == cell.family);
        BOOST_TEST(points[corner].batch >= cell.low_batch);
        BOOST_TEST(points[corner].batch <= cell.high_batch);
      }
    }
    for (int32_t batch = 1; batch <= 12; ++batch) {
      for (const int64_t seq_len : {256, 300, 512, 700, 1024, 1500, 2048, 3000, 4096}) {
        for (const ShapeKey family : {1, 2}) {
          const auto covering =
              std::count_if(cells.begin(), cells.end(), [&](const GridCell& cell) {
                return cell.family == family && covers(cell, batch, seq_len);
              });
          BOOST_TEST(covering <= 1);
        }
      }
    }
  }
}

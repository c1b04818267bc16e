// SPDX-License-Identifier: MIT
#include "policy/cell_table.h"

#include <algorithm>

namespace mla::policy {
namespace {

bool apart(int64_t a, int64_t b) noexcept {
  return static_cast<double>(std::max(a, b)) > kFarFactor * static_cast<double>(std::min(a, b));
}

// The one of two tuned values that is nearer to `value` by ratio.
template <class Int>
Int nearer(Int low, Int high, Int value) noexcept {
  return int64_t{value} * value <= int64_t{low} * high ? low : high;
}

}  // namespace

void CellTable::add(const GridCell& cell, const Selection& selection) {
  if (families_.empty() || families_.back().key != cell.family) {
    families_.push_back({cell.family, static_cast<uint32_t>(lines_.size())});
  }
  Family& family = families_.back();
  const size_t first_line = families_.size() < 2 ? 0 : families_[families_.size() - 2].end_line;
  if (lines_.size() == first_line || lines_.back().first_batch != cell.first_batch) {
    lines_.push_back({cell.first_batch, cell.last_batch, 0});
  }
  cells_.push_back({static_cast<int32_t>(cell.lengths.first),
                    static_cast<int32_t>(cell.lengths.last),
                    static_cast<int32_t>(cell.low_length),
                    static_cast<int32_t>(cell.high_length),
                    cell.low_batch,
                    cell.high_batch,
                    static_cast<uint32_t>(candidates_.size()),
                    static_cast<uint16_t>(selection.candidates.size()),
                    selection.refusal});
  candidates_.insert(candidates_.end(), selection.candidates.begin(), selection.candidates.end());
  lines_.back().end_cell = static_cast<uint32_t>(cells_.size());
  family.end_line = static_cast<uint32_t>(lines_.size());
}

const CellTable::Cell* CellTable::find(ShapeKey family, const Problem& problem) const noexcept {
  const auto of_family = std::lower_bound(
      families_.begin(), families_.end(), family, [](const Family& f, ShapeKey key) {
        return f.key < key;
      });
  if (of_family == families_.end() || of_family->key != family) return nullptr;

  const auto first_line =
      lines_.begin() + (of_family == families_.begin() ? 0 : (of_family - 1)->end_line);
  const auto end_line = lines_.begin() + of_family->end_line;
  const auto line =
      std::lower_bound(first_line, end_line, problem.batch, [](const Line& l, int32_t batch) {
        return l.last_batch < batch;
      });
  if (line == end_line || line->first_batch > problem.batch) return nullptr;

  const auto first_cell = cells_.begin() + (line == lines_.begin() ? 0 : (line - 1)->end_cell);
  const auto end_cell = cells_.begin() + line->end_cell;
  const auto cell =
      std::lower_bound(first_cell, end_cell, problem.seq_len, [](const Cell& c, int64_t length) {
        return c.last_length < length;
      });
  if (cell == end_cell || cell->first_length > problem.seq_len) return nullptr;
  return &*cell;
}

void CellTable::shrink() {
  families_.shrink_to_fit();
  lines_.shrink_to_fit();
  cells_.shrink_to_fit();
  candidates_.shrink_to_fit();
}

size_t CellTable::memory_bytes() const {
  return families_.capacity() * sizeof(Family) + lines_.capacity() * sizeof(Line) +
         cells_.capacity() * sizeof(Cell) + candidates_.capacity() * sizeof(ShapeEntry);
}

Problem nearest_corner(const CellTable::Cell& cell, const Problem& problem) noexcept {
  Problem corner = problem;
  corner.batch = nearer(cell.low_batch, cell.high_batch, problem.batch);
  corner.seq_len = nearer(int64_t{cell.low_length}, int64_t{cell.high_length}, problem.seq_len);
  return corner;
}

bool is_far(const Problem& measured, const Problem& problem) noexcept {
  return apart(measured.batch, problem.batch) || apart(measured.seq_len, problem.seq_len);
}

bool waves_or_trips_differ(const Space& space,
                           const Problem& measured,
                           const KernelConfig& measured_config,
                           const Problem& problem,
                           const KernelConfig& config) noexcept {
  const ResourceUse there = space.use(measured, measured_config);
  const ResourceUse here = space.use(problem, config);
  return apart(there.waves, here.waves) || apart(there.trips, here.trips);
}

double walk_ratio(const Space& space,
                  const Problem& problem,
                  const KernelConfig& config,
                  const KernelConfig& default_config) noexcept {
  const auto walk = [&](const KernelConfig& launched) {
    const ResourceUse use = space.use(problem, launched);
    return static_cast<double>(std::max<int64_t>(1, use.waves * use.trips) * launched.tile_n);
  };
  return walk(config) / walk(default_config);
}

}  // namespace mla::policy

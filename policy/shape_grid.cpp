// SPDX-License-Identifier: MIT
#include "policy/shape_grid.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace mla::policy {
namespace {

// The points of one batch and length bucket, shortest first.
struct Site {
  int32_t bucket = 0;
  std::span<const size_t> points;
};

// All sites of one batch, shortest first.
struct Line {
  int32_t batch = 0;
  std::vector<Site> sites;
};

// How many lines further on a pair of lines may be looked for: points that stand alone at a batch,
// as a tuner adds them, must not hide the lines around them at other lengths.
constexpr size_t kWidest = 3;

// Lengths further apart bracket a length only where none nearer do: no winner is carried from one
// to the middle.
constexpr double kNearLengths = kFarFactor * kFarFactor;

class CellWalk {
 public:
  CellWalk(const std::vector<GridPoint>& points, const std::function<void(const GridCell&)>& visit)
      : points_(points), visit_(visit), order_(points.size()) {
    for (int32_t bucket = 0; bucket <= length_bucket(kMaxSeqLen); ++bucket) {
      ranges_.push_back(bucket_lengths(bucket));
    }
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      const GridPoint &p = points_[a], &q = points_[b];
      return std::tie(p.family, p.batch, p.seq_len) < std::tie(q.family, q.batch, q.seq_len);
    });
  }

  void walk() {
    for (size_t first = 0; first < order_.size();) {
      cell_.family = at(first).family;
      lines_ = lines_from(&first);
      first_bucket_ = lines_.front().sites.front().bucket;
      last_bucket_ = lines_.front().sites.back().bucket;
      for (const Line& line : lines_) {
        first_bucket_ = std::min(first_bucket_, line.sites.front().bucket);
        last_bucket_ = std::max(last_bucket_, line.sites.back().bucket);
      }
      for (size_t i = 0; i < lines_.size(); ++i) {
        visit_batch(i);
        if (i + 1 < lines_.size() && lines_[i].batch + 1 < lines_[i + 1].batch) visit_gap(i);
      }
    }
  }

 private:
  const GridPoint& at(size_t place) const { return points_[order_[place]]; }

  // The lines of the family that begins at `*first`, which moves to the next family.
  std::vector<Line> lines_from(size_t* first) const {
    std::vector<Line> lines;
    const ShapeKey family = at(*first).family;
    while (*first < order_.size() && at(*first).family == family) {
      const GridPoint& point = at(*first);
      const int32_t bucket = length_bucket(point.seq_len);
      size_t last = *first + 1;
      while (last < order_.size() && at(last).family == family && at(last).batch == point.batch &&
             length_bucket(at(last).seq_len) == bucket) {
        ++last;
      }
      if (lines.empty() || lines.back().batch != point.batch) lines.push_back({point.batch, {}});
      lines.back().sites.push_back({bucket, std::span(order_).subspan(*first, last - *first)});
      *first = last;
    }
    return lines;
  }

  // The batch of a line: where its own lengths leave room, its neighbours' cells cover it.
  void visit_batch(size_t line) {
    begin_batches(lines_[line].batch, lines_[line].batch);
    for (const Site& site : lines_[line].sites) cover(site.bucket);  // a bucket key answers
    for (const bool near : {true, false}) {
      visit_cells(line, line, near);
      if (line > 0) visit_pairs(line - 1, line + 1, near);
    }
    end_batches();
  }

  // The batches between a line and the next.
  void visit_gap(size_t line) {
    begin_batches(lines_[line].batch + 1, lines_[line + 1].batch - 1);
    for (const bool near : {true, false}) visit_pairs(line, line + 1, near);
    end_batches();
  }

  void begin_batches(int32_t first, int32_t last) {
    cell_.first_batch = first;
    cell_.last_batch = last;
    covered_.assign(ranges_.size(), false);
    uncovered_ = last_bucket_ - first_bucket_ + 1;
    cells_.clear();
  }
  void end_batches() {
    std::sort(cells_.begin(), cells_.end(), [](const GridCell& a, const GridCell& b) {
      return a.lengths.first < b.lengths.first;
    });
    for (const GridCell& cell : cells_) visit_(cell);
  }

  // Nearest first: line `low` or one before it with `high` or one behind it.
  void visit_pairs(size_t low, size_t high, bool near) {
    for (size_t wider = 0; wider <= 2 * kWidest; ++wider) {
      for (size_t before = 0; before <= std::min(wider, low); ++before) {
        const size_t behind = wider - before;
        if (uncovered_ == 0) return;
        if (before > kWidest || behind > kWidest || high + behind >= lines_.size()) continue;
        visit_cells(low - before, high + behind, near);
      }
    }
  }

  // A line with itself has cells between its lengths; two lines also at the lengths of both.
  // `near`: only those between near lengths.
  void visit_cells(size_t low_line, size_t high_line, bool near) {
    const Line &low = lines_[low_line], &high = lines_[high_line];
    const bool same = low_line == high_line;
    inner_ = std::span(lines_).subspan(same ? low_line : low_line + 1,
                                       same ? 0 : high_line - low_line - 1);
    cell_.low_batch = low.batch;
    cell_.high_batch = high.batch;
    const Site *low_before = nullptr, *high_before = nullptr;
    auto other = high.sites.begin();
    for (const Site& site : low.sites) {
      while (other != high.sites.end() && other->bucket < site.bucket) ++other;
      if (other == high.sites.end()) break;
      if (other->bucket != site.bucket) continue;
      if (low_before != nullptr && (!near || are_near(*low_before, site))) {
        add_between(*low_before, *high_before, site, *other);
      }
      if (!same) add_bucket(site, *other);
      low_before = &site;
      high_before = &*other;
    }
  }

  bool are_near(const Site& before, const Site& after) const {
    return static_cast<double>(points_[after.points.front()].seq_len) <=
           kNearLengths * static_cast<double>(points_[before.points.back()].seq_len);
  }

  void add_between(const Site& low_before,
                   const Site& high_before,
                   const Site& low_after,
                   const Site& high_after) {
    cell_.low_length = points_[low_before.points.back()].seq_len;
    cell_.high_length = points_[low_after.points.front()].seq_len;
    cell_.corners = {low_before.points.back(), low_after.points.front()};
    if (&low_before != &high_before) {
      cell_.corners.push_back(high_before.points.back());
      cell_.corners.push_back(high_after.points.front());
    }
    add_inner(low_before.bucket, low_after.bucket);
    add_uncovered(low_before.bucket + 1, low_after.bucket - 1);
  }

  void add_bucket(const Site& low, const Site& high) {
    cell_.low_length = points_[low.points.front()].seq_len;
    cell_.high_length = points_[low.points.back()].seq_len;
    cell_.corners.assign(low.points.begin(), low.points.end());
    cell_.corners.insert(cell_.corners.end(), high.points.begin(), high.points.end());
    add_inner(low.bucket, low.bucket);
    add_uncovered(low.bucket, low.bucket);
  }

  // What was tuned among the corners is evidence too.
  void add_inner(int32_t first, int32_t last) {
    for (const Line& line : inner_) {
      for (const Site& site : line.sites) {
        if (site.bucket < first || site.bucket > last) continue;
        cell_.corners.insert(cell_.corners.end(), site.points.begin(), site.points.end());
      }
    }
  }

  // What no nearer pair covers of the buckets, a cell each run of them.
  void add_uncovered(int32_t first, int32_t last) {
    for (int32_t bucket = first; bucket <= last; ++bucket) {
      if (covered_[static_cast<size_t>(bucket)]) continue;
      cell_.lengths.first = ranges_[static_cast<size_t>(bucket)].first;
      while (bucket <= last && !covered_[static_cast<size_t>(bucket)]) cover(bucket++);
      cell_.lengths.last = ranges_[static_cast<size_t>(bucket - 1)].last;
      // Some buckets of very short lengths hold none.
      if (cell_.lengths.first <= cell_.lengths.last) cells_.push_back(cell_);
    }
  }

  void cover(int32_t bucket) {
    covered_[static_cast<size_t>(bucket)] = true;
    --uncovered_;
  }

  const std::vector<GridPoint>& points_;
  const std::function<void(const GridCell&)>& visit_;
  std::vector<LengthRange> ranges_;  // by bucket
  std::vector<size_t> order_;        // of points, by family, batch and length
  GridCell cell_;
  std::span<const Line> inner_;                 // lines between those of the cell's corners
  std::vector<Line> lines_;                     // of the family
  int32_t first_bucket_ = 0, last_bucket_ = 0;  // of all of them
  std::vector<bool> covered_;                   // buckets, of the batches at hand
  int32_t uncovered_ = 0;                       // of first_bucket_..last_bucket_
  std::vector<GridCell> cells_;                 // of the batches at hand
};

}  // namespace

void for_each_cell(const std::vector<GridPoint>& points,
                   const std::function<void(const GridCell&)>& visit) {
  CellWalk(points, visit).walk();
}

}  // namespace mla::policy

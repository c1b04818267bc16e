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
      const std::vector<Line> lines = lines_from(&first);
      for (size_t i = 0; i < lines.size(); ++i) {
        visit_cells(lines[i], lines[i]);
        if (i + 1 < lines.size() && lines[i].batch + 1 < lines[i + 1].batch) {
          visit_cells(lines[i], lines[i + 1]);
        }
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

  // A line with itself has cells between its lengths; two lines also at the lengths of both.
  void visit_cells(const Line& low, const Line& high) {
    const bool same = &low == &high;
    cell_.low_batch = low.batch;
    cell_.high_batch = high.batch;
    cell_.first_batch = same ? low.batch : low.batch + 1;
    cell_.last_batch = same ? high.batch : high.batch - 1;
    const Site *low_before = nullptr, *high_before = nullptr;
    auto other = high.sites.begin();
    for (const Site& site : low.sites) {
      while (other != high.sites.end() && other->bucket < site.bucket) ++other;
      if (other == high.sites.end()) break;
      if (other->bucket != site.bucket) continue;
      if (low_before != nullptr && low_before->bucket + 1 < site.bucket) {
        visit_between(*low_before, *high_before, site, *other);
      }
      if (!same) visit_bucket(site, *other);
      low_before = &site;
      high_before = &*other;
    }
  }

  void visit_between(const Site& low_before,
                     const Site& high_before,
                     const Site& low_after,
                     const Site& high_after) {
    cell_.lengths = {range(low_before).last + 1, range(low_after).first - 1};
    cell_.low_length = points_[low_before.points.back()].seq_len;
    cell_.high_length = points_[low_after.points.front()].seq_len;
    cell_.corners = {low_before.points.back(), low_after.points.front()};
    if (&low_before != &high_before) {
      cell_.corners.push_back(high_before.points.back());
      cell_.corners.push_back(high_after.points.front());
    }
    visit_(cell_);
  }

  void visit_bucket(const Site& low, const Site& high) {
    cell_.lengths = range(low);
    cell_.low_length = points_[low.points.front()].seq_len;
    cell_.high_length = points_[low.points.back()].seq_len;
    cell_.corners.assign(low.points.begin(), low.points.end());
    cell_.corners.insert(cell_.corners.end(), high.points.begin(), high.points.end());
    visit_(cell_);
  }

  const LengthRange& range(const Site& site) const {
    return ranges_[static_cast<size_t>(site.bucket)];
  }

  const std::vector<GridPoint>& points_;
  const std::function<void(const GridCell&)>& visit_;
  std::vector<LengthRange> ranges_;  // by bucket
  std::vector<size_t> order_;        // of points, by family, batch and length
  GridCell cell_;
};

}  // namespace

void for_each_cell(const std::vector<GridPoint>& points,
                   const std::function<void(const GridCell&)>& visit) {
  CellWalk(points, visit).walk();
}

}  // namespace mla::policy

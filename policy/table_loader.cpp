// SPDX-License-Identifier: MIT
#include "policy/table_loader.h"

#include <algorithm>
#include <tuple>

#include "policy/carried.h"
#include "policy/fingerprint.h"
#include "policy/table_rows.h"

namespace mla::policy {
namespace {

// Whether two rows give the same advice. Every ruling that keeps the default is the same advice,
// except that a demoted or failed shape says nothing about its neighbours.
bool agree(const ShapeEntry& a, const ShapeEntry& b) {
  const auto advice = [](const ShapeEntry& entry) {
    const auto kind = static_cast<Ruling>(entry.ruling);
    if (is_winner(kind)) return Ruling::kWinner;
    return kind == Ruling::kUndecided ? Ruling::kDefaultBest : kind;
  };
  return advice(a) == advice(b) && (advice(a) != Ruling::kWinner || a.config == b.config);
}

// The entry for rows that share `key`: the one with the least gain speaks for all.
template <typename Iterator>
ShapeEntry merge(ShapeKey key, Iterator first, Iterator last) {
  const auto gains_less = [](const TunedRow& a, const TunedRow& b) {
    return a.entry.gain < b.entry.gain;
  };
  ShapeEntry merged = std::min_element(first, last, gains_less)->entry;
  for (Iterator row = first; row != last; ++row) {
    if (!agree(merged, row->entry)) {
      merged = {};
      merged.ruling = static_cast<uint8_t>(Ruling::kDisagree);
      break;
    }
    // Caution adds up: one row to verify again marks them all.
    merged.ruling = std::max<uint64_t>(merged.ruling, row->entry.ruling);
  }
  merged.key = key;
  return merged;
}

// Calls visit(first, last) for every run of rows whose `key` is equal; rows are sorted by it.
template <typename Key, typename Visit>
void for_each_run(std::vector<TunedRow>& rows, Key key, Visit visit) {
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(
        first, rows.end(), [&](const TunedRow& row) { return key(row) != key(*first); });
    visit(first, last);
    first = last;
  }
}

// Of the rows with one exact key those of the last file, merged into one.
std::vector<TunedRow> overlay(std::vector<TunedRow> rows, std::vector<Evidence>* evidence) {
  std::sort(rows.begin(), rows.end(), [](const TunedRow& a, const TunedRow& b) {
    return std::make_tuple(a.entry.key, a.entry.database, a.entry.winner_id) <
           std::make_tuple(b.entry.key, b.entry.database, b.entry.winner_id);
  });
  std::vector<TunedRow> kept;
  kept.reserve(rows.size());
  for_each_run(
      rows,
      [](const TunedRow& row) { return row.entry.key; },
      [&](auto first, auto last) {
        const uint64_t last_file = (last - 1)->entry.database;
        while (first->entry.database != last_file) ++first;
        TunedRow row = *first;
        row.entry = merge(row.entry.key, first, last);
        if (row.entry.ruling == static_cast<uint8_t>(Ruling::kDisagree)) row.need.splits = 0;
        if (last - first > 1) (*evidence)[row.evidence].carries = false;
        kept.push_back(row);
      });
  return kept;
}

// Each (batches, q_len, nhead) once, with the most splits.
void merge_needs(std::vector<SplitsNeed>* all) {
  std::vector<SplitsNeed>& needs = *all;
  std::erase_if(needs, [](const SplitsNeed& need) { return need.splits <= 1; });
  const auto shape = [](const SplitsNeed& need) {
    return std::make_tuple(need.first_batch, need.last_batch, need.q_len, need.nhead);
  };
  std::sort(needs.begin(), needs.end(), [&](const SplitsNeed& a, const SplitsNeed& b) {
    return shape(a) != shape(b) ? shape(a) < shape(b) : a.splits > b.splits;
  });
  const auto same = [&](const SplitsNeed& a, const SplitsNeed& b) { return shape(a) == shape(b); };
  needs.erase(std::unique(needs.begin(), needs.end(), same), needs.end());
  needs.shrink_to_fit();
}

bool before(const FileLoss& a, const FileLoss& b) {
  return std::tie(a.file, a.tuning_id) < std::tie(b.file, b.tuning_id);
}

// `losses` are in the order of before().
Corner make_corner(const TunedRow& row,
                   const Evidence& evidence,
                   const std::vector<FileLoss>& losses) {
  Corner corner = {
      row.entry, evidence.problem, evidence.default_config, evidence.error, evidence.carries, {}};
  const FileLoss wanted = {row.entry.database, evidence.tuning_id, {}};
  const auto [first, last] = std::equal_range(losses.begin(), losses.end(), wanted, before);
  for (auto loss = first; loss != last; ++loss) corner.losses.push_back(loss->loss);
  return corner;
}

// At the corners of a cell, at all of which `carried` was measured.
float most_walk_ratio(const Space& space,
                      const std::vector<Corner>& corners,
                      const KernelConfig& carried) {
  double most = 0;
  for (const Corner& corner : corners) {
    const KernelConfig usual = unpack_config(corner.default_config);
    const KernelConfig config = at_shape(carried, usual, corner.problem);
    most = std::max(most, walk_ratio(space, corner.problem, config, usual));
  }
  return static_cast<float>(most);
}

// Adds what the cells answer and the splits that they need.
void add_cells(const Space& space,
               const DefaultPolicy& default_policy,
               const std::vector<TunedRow>& rows,
               const std::vector<Evidence>& evidence,
               std::vector<FileLoss> losses,
               LoadedEntries* loaded,
               Fingerprint* fingerprint) {
  std::sort(losses.begin(), losses.end(), before);
  std::vector<GridPoint> points;
  points.reserve(rows.size());
  std::vector<const TunedRow*> at;  // of each point
  for (const TunedRow& row : rows) {
    const Evidence& of = evidence[row.evidence];
    if (of.family == kNoKey) continue;
    points.push_back({of.family, of.problem.batch, of.problem.seq_len});
    at.push_back(&row);
  }
  for_each_cell(points, [&](const GridCell& cell) {
    std::vector<Corner> corners;
    for (const size_t index : cell.corners) {
      corners.push_back(make_corner(*at[index], evidence[at[index]->evidence], losses));
    }
    Selection selection = select_between(corners);
    for (ShapeEntry& entry : selection.candidates) {
      if (is_winner(static_cast<Ruling>(entry.ruling)))
        entry.walk_ratio = most_walk_ratio(space, corners, unpack_config(entry.config));
    }
    loaded->cells.add(cell, selection);
    fingerprint->add(selection.candidates.size());
    for (const ShapeEntry& entry : selection.candidates) {
      fingerprint->add(entry.config);
      if (!is_winner(static_cast<Ruling>(entry.ruling))) continue;
      const TunedRow& corner = *at[cell.corners.front()];
      SplitsNeed need = corner.need;
      need.first_batch = static_cast<uint16_t>(cell.first_batch);
      need.last_batch = static_cast<uint16_t>(cell.last_batch);
      const KernelConfig carried = unpack_config(entry.config);
      if (carried.splits == 0) continue;  // the default's, which the bound knows of itself
      // Of a number of workgroups, the smallest batch takes the most splits.
      Problem smallest = corners.front().problem;
      smallest.batch = cell.first_batch;
      need.splits = at_shape(carried, default_policy(smallest), smallest).splits;
      loaded->needs.push_back(need);
    }
  });
  loaded->cells.shrink();
}

}  // namespace

LoadedEntries load_entries(const std::vector<std::string>& paths,
                           const Space& space,
                           const DefaultPolicy& default_policy) {
  LoadedRows read = load_rows(paths, space, default_policy);
  LoadedEntries loaded;
  loaded.failed_files = read.failed_files;
  loaded.warnings = std::move(read.warnings);
  std::vector<TunedRow> rows = overlay(std::move(read.rows), &read.evidence);
  loaded.shapes = static_cast<int64_t>(rows.size());
  // Neither of times nor of row ids: they change no launch.
  Fingerprint fingerprint;
  for (const TunedRow& row : rows) {
    loaded.needs.push_back(row.need);
    for (const uint64_t word : {row.entry.key, row.entry.config, uint64_t{row.entry.ruling}})
      fingerprint.add(word);
    fingerprint.add(uint64_t{row.entry.gain >= kLeastCarriedGain});
    fingerprint.add(uint64_t{read.evidence[row.evidence].carries});
  }
  add_cells(
      space, default_policy, rows, read.evidence, std::move(read.losses), &loaded, &fingerprint);
  merge_needs(&loaded.needs);
  loaded.fingerprint = fingerprint.value();

  loaded.entries.reserve(2 * rows.size());
  for (const TunedRow& row : rows) loaded.entries.push_back(row.entry);
  std::sort(rows.begin(), rows.end(), [](const TunedRow& a, const TunedRow& b) {
    return std::make_tuple(a.bucket, a.entry.key) < std::make_tuple(b.bucket, b.entry.key);
  });
  for_each_run(
      rows,
      [](const TunedRow& row) { return row.bucket; },
      [&](auto first, auto last) {
        if (first->bucket == kNoKey) return;
        ShapeEntry& entry = loaded.entries.emplace_back(merge(first->bucket, first, last));
        const auto carries = [&](const TunedRow& row) {
          return read.evidence[row.evidence].carries;
        };
        const Evidence& shortest = read.evidence[first->evidence];
        entry.tuned_length =
            std::all_of(first, last, carries) ? static_cast<int32_t>(shortest.problem.seq_len) : 0;
      });
  return loaded;
}

}  // namespace mla::policy

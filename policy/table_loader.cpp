// SPDX-License-Identifier: MIT
#include "policy/table_loader.h"

#include <algorithm>
#include <tuple>

#include "db/snapshot.h"
#include "kernels/error.h"
#include "policy/fingerprint.h"

namespace mla::policy {
namespace {

// ShapeEntry::database has 8 bits.
constexpr size_t kMaxFiles = 255;

struct TunedRow {
  ShapeEntry entry;  // under its exact key
  ShapeKey bucket = kNoKey;
  ShapeKey family = kNoKey;
  uint64_t default_config = 0;  // pack_config() of the live default
  int64_t tuning_id = 0;
  int32_t seq_len = 0;
  float placebo_noise = 0;
  bool carries = true;  // Corner::carries
  SplitsNeed need;
};

// A loss of tuning `tuning_id` of a file.
struct FileLoss {
  size_t file = 0;
  int64_t tuning_id = 0;
  KnownLoss loss;
};

struct LoadedRows {
  std::vector<TunedRow> rows;
  std::vector<FileLoss> losses;
};

Ruling ruling(const db::SnapshotRow& row) {
  if (row.demoted) return Ruling::kDemoted;
  switch (row.verdict) {
    case db::Verdict::kFaster:
      return row.verify_again ? Ruling::kVerifyAgain : Ruling::kWinner;
    case db::Verdict::kDefaultBest:
    case db::Verdict::kSlower:
      return Ruling::kDefaultBest;
    case db::Verdict::kUndecided:
      return Ruling::kUndecided;
    case db::Verdict::kFailed:
      break;
  }
  return Ruling::kFailed;
}

bool is_winner(Ruling ruling) {
  return ruling == Ruling::kWinner || ruling == Ruling::kVerifyAgain;
}

// False where the row does not fit an entry.
bool make_row(const db::SnapshotRow& from,
              size_t file,
              const DefaultPolicy& default_policy,
              TunedRow* row) {
  row->entry.key = exact_key(from.problem);
  row->bucket = bucket_key(from.problem);
  if (row->entry.key == kNoKey || !pack_config(from.config, &row->entry.config)) return false;
  const Ruling kind = ruling(from);
  const KernelConfig live_default = default_policy(from.problem);
  row->family = family_key(from.problem);
  row->tuning_id = from.tuning_id;
  row->seq_len = static_cast<int32_t>(from.problem.seq_len);
  row->placebo_noise = from.placebo_noise;
  row->carries = from.against_default && from.default_config == live_default &&
                 pack_config(live_default, &row->default_config);
  // A time belongs to the configuration that is answered, which without a winner is the live
  // default.
  const bool timed = is_winner(kind) || from.config == live_default;
  row->entry.gain = is_winner(kind) ? from.gain : 0;
  row->entry.expected_us = timed && kind != Ruling::kDemoted ? from.expected_us : 0;
  row->entry.ruling = static_cast<uint8_t>(kind);
  row->entry.database = file;
  const bool id_fits = from.winner_id > 0 && static_cast<uint64_t>(from.winner_id) <= kMaxWinnerId;
  row->entry.winner_id = id_fits ? static_cast<uint64_t>(from.winner_id) : 0;
  row->need = {static_cast<uint16_t>(from.problem.batch),
               static_cast<uint16_t>(from.problem.batch),
               static_cast<uint8_t>(from.problem.q_len),
               static_cast<uint8_t>(from.problem.nhead),
               is_winner(kind) ? from.config.splits : 0};
  return true;
}

std::string skipped_text(const std::string& path, const db::SnapshotLoad& load, int64_t unfit) {
  std::string text = path + ": " + std::to_string(load.rows_skipped + unfit) + " rows skipped";
  const char* separator = ": ";
  for (const std::string& reason : load.reasons) {
    text += separator + reason;
    separator = "; ";
  }
  return text;
}

void load_file(const std::string& path,
               size_t file,
               const Space& space,
               const DefaultPolicy& default_policy,
               LoadedRows* read,
               LoadedEntries* loaded) {
  const size_t rows_before = read->rows.size();
  int64_t unfit = 0;
  try {
    const auto keep = [&](const db::SnapshotRow& from) {
      TunedRow row;
      if (make_row(from, file, default_policy, &row)) {
        read->rows.push_back(row);
      } else {
        ++unfit;
      }
    };
    const auto keep_loss = [&](const db::SnapshotLoss& from) {
      FileLoss loss = {file, from.tuning_id, {0, from.loss, from.placebo_noise}};
      if (pack_config(from.config, &loss.loss.config)) read->losses.push_back(loss);
    };
    const db::SnapshotLoad load = db::load_snapshot(path, space, {keep, keep_loss});
    if (load.rows_skipped + unfit > 0) loaded->warnings.push_back(skipped_text(path, load, unfit));
  } catch (const Error& error) {
    read->rows.resize(rows_before);  // its losses belong to no row then
    ++loaded->failed_files;
    loaded->warnings.push_back(error.what());
  }
}

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
  ShapeEntry merged = first->entry;
  for (Iterator row = first + 1; row != last; ++row) {
    if (!agree(merged, row->entry)) {
      merged = {};
      merged.ruling = static_cast<uint8_t>(Ruling::kDisagree);
      break;
    }
    // Caution adds up: one row to verify again marks them all.
    const uint64_t caution = std::max<uint64_t>(merged.ruling, row->entry.ruling);
    if (row->entry.gain < merged.gain) merged = row->entry;
    merged.ruling = caution;
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
std::vector<TunedRow> overlay(std::vector<TunedRow> rows) {
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
        row.carries = row.carries && last - first == 1;
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

// The rows as corners of cells.
std::vector<Corner> make_corners(const std::vector<TunedRow>& rows, std::vector<FileLoss> losses) {
  const auto of_tuning = [](const FileLoss& loss) {
    return std::make_tuple(loss.file, loss.tuning_id);
  };
  std::sort(losses.begin(), losses.end(), [&](const FileLoss& a, const FileLoss& b) {
    return of_tuning(a) < of_tuning(b);
  });
  std::vector<Corner> corners;
  corners.reserve(rows.size());
  for (const TunedRow& row : rows) {
    const FileLoss wanted = {row.entry.database, row.tuning_id, {}};
    const auto [first, last] = std::equal_range(
        losses.begin(), losses.end(), wanted, [&](const FileLoss& a, const FileLoss& b) {
          return of_tuning(a) < of_tuning(b);
        });
    Corner& corner = corners.emplace_back();
    corner.entry = row.entry;
    corner.default_config = row.default_config;
    corner.placebo_noise = row.placebo_noise;
    corner.carries = row.carries;
    corner.losses.reserve(static_cast<size_t>(last - first));
    for (auto loss = first; loss != last; ++loss) corner.losses.push_back(loss->loss);
  }
  return corners;
}

// Adds what the cells answer and the splits that they need.
void add_cells(const std::vector<TunedRow>& rows,
               std::vector<FileLoss> losses,
               LoadedEntries* loaded,
               Fingerprint* fingerprint) {
  std::vector<GridPoint> points;
  points.reserve(rows.size());
  for (const TunedRow& row : rows)
    points.push_back({row.family, row.need.first_batch, row.seq_len});
  const std::vector<Corner> corners = make_corners(rows, std::move(losses));
  for_each_cell(points, [&](const GridCell& cell) {
    std::vector<const Corner*> around;
    for (const size_t index : cell.corners) around.push_back(&corners[index]);
    const Selection selection = select_between(around);
    loaded->cells.add(cell, selection);
    fingerprint->add(selection.candidates.size());
    for (const ShapeEntry& entry : selection.candidates) {
      fingerprint->add(entry.config);
      SplitsNeed need = rows[cell.corners.front()].need;
      need.first_batch = static_cast<uint16_t>(cell.first_batch);
      need.last_batch = static_cast<uint16_t>(cell.last_batch);
      need.splits =
          is_winner(static_cast<Ruling>(entry.ruling)) ? unpack_config(entry.config).splits : 0;
      loaded->needs.push_back(need);
    }
  });
  loaded->cells.shrink();
}

}  // namespace

LoadedEntries load_entries(const std::vector<std::string>& paths,
                           const Space& space,
                           const DefaultPolicy& default_policy) {
  LoadedEntries loaded;
  LoadedRows read;
  for (size_t file = 0; file < paths.size(); ++file) {
    if (file < kMaxFiles) {
      load_file(paths[file], file, space, default_policy, &read, &loaded);
    } else {
      ++loaded.failed_files;
      loaded.warnings.push_back(paths[file] + ": more than 255 databases are not supported");
    }
  }
  std::vector<TunedRow> rows = overlay(std::move(read.rows));
  loaded.shapes = static_cast<int64_t>(rows.size());
  Fingerprint fingerprint;  // neither of times nor of row ids: they change no launch
  for (const TunedRow& row : rows) {
    loaded.needs.push_back(row.need);
    for (const uint64_t word : {row.entry.key, row.entry.config, uint64_t{row.entry.ruling}})
      fingerprint.add(word);
  }
  add_cells(rows, std::move(read.losses), &loaded, &fingerprint);
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
      [&](auto first, auto last) { loaded.entries.push_back(merge(first->bucket, first, last)); });
  return loaded;
}

}  // namespace mla::policy

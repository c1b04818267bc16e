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
  SplitsNeed need;
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
  // A time belongs to the configuration that is answered, which without a winner is the live
  // default.
  const bool timed = is_winner(kind) || from.config == default_policy(from.problem);
  row->entry.gain = is_winner(kind) ? from.gain : 0;
  row->entry.expected_us = timed && kind != Ruling::kDemoted ? from.expected_us : 0;
  row->entry.ruling = static_cast<uint8_t>(kind);
  row->entry.database = file;
  const bool id_fits = from.winner_id > 0 && static_cast<uint64_t>(from.winner_id) <= kMaxWinnerId;
  row->entry.winner_id = id_fits ? static_cast<uint64_t>(from.winner_id) : 0;
  row->need = {static_cast<uint16_t>(from.problem.batch),
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
               std::vector<TunedRow>* rows,
               LoadedEntries* loaded) {
  const size_t rows_before = rows->size();
  int64_t unfit = 0;
  try {
    const auto keep = [&](const db::SnapshotRow& from) {
      TunedRow row;
      if (make_row(from, file, default_policy, &row)) {
        rows->push_back(row);
      } else {
        ++unfit;
      }
    };
    const db::SnapshotLoad load = db::load_snapshot(path, space, keep);
    if (load.rows_skipped + unfit > 0) loaded->warnings.push_back(skipped_text(path, load, unfit));
  } catch (const Error& error) {
    rows->resize(rows_before);
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
        kept.push_back(row);
      });
  return kept;
}

std::vector<SplitsNeed> splits_needs(const std::vector<TunedRow>& rows) {
  std::vector<SplitsNeed> needs;
  for (const TunedRow& row : rows) {
    if (row.need.splits > 1) needs.push_back(row.need);
  }
  const auto shape = [](const SplitsNeed& need) {
    return std::make_tuple(need.batch, need.q_len, need.nhead);
  };
  std::sort(needs.begin(), needs.end(), [&](const SplitsNeed& a, const SplitsNeed& b) {
    return shape(a) != shape(b) ? shape(a) < shape(b) : a.splits > b.splits;
  });
  const auto same = [&](const SplitsNeed& a, const SplitsNeed& b) { return shape(a) == shape(b); };
  needs.erase(std::unique(needs.begin(), needs.end(), same), needs.end());
  needs.shrink_to_fit();
  return needs;
}

// In the order of their keys. Neither times nor row ids: they change no launch.
uint64_t fingerprint(const std::vector<TunedRow>& rows) {
  Fingerprint fingerprint;
  for (const TunedRow& row : rows) {
    fingerprint.add(row.entry.key);
    fingerprint.add(row.entry.config);
    fingerprint.add(row.entry.ruling);
  }
  return fingerprint.value();
}

}  // namespace

LoadedEntries load_entries(const std::vector<std::string>& paths,
                           const Space& space,
                           const DefaultPolicy& default_policy) {
  LoadedEntries loaded;
  std::vector<TunedRow> rows;
  for (size_t file = 0; file < paths.size(); ++file) {
    if (file < kMaxFiles) {
      load_file(paths[file], file, space, default_policy, &rows, &loaded);
    } else {
      ++loaded.failed_files;
      loaded.warnings.push_back(paths[file] + ": more than 255 databases are not supported");
    }
  }
  rows = overlay(std::move(rows));
  loaded.shapes = static_cast<int64_t>(rows.size());
  loaded.needs = splits_needs(rows);
  loaded.fingerprint = fingerprint(rows);

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

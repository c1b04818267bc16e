// SPDX-License-Identifier: MIT
#include "policy/table_rows.h"

#include "db/snapshot.h"
#include "kernels/error.h"

namespace mla::policy {
namespace {

// ShapeEntry::database has 8 bits.
constexpr size_t kMaxFiles = 255;

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

// False where the row does not fit an entry.
bool make_row(const db::SnapshotRow& from,
              size_t file,
              const DefaultPolicy& default_policy,
              TunedRow* row,
              Evidence* evidence) {
  row->entry.key = from.problem.seq_len == 0 ? robust_key(from.problem) : exact_key(from.problem);
  row->bucket = bucket_key(from.problem);
  if (row->entry.key == kNoKey || !pack_config(from.config, &row->entry.config)) return false;
  const Ruling kind = ruling(from);
  const KernelConfig live_default = default_policy(from.problem);
  // A time belongs to the configuration that is answered, which without a winner is the live
  // default.
  const bool timed = is_winner(kind) || from.config == live_default;
  row->entry.gain = is_winner(kind) ? from.gain : 0;
  row->entry.expected_us = timed && kind != Ruling::kDemoted ? from.expected_us : 0;
  row->entry.ruling = static_cast<uint8_t>(kind);
  row->entry.database = file;
  const bool id_fits = from.winner_id > 0 && static_cast<uint64_t>(from.winner_id) <= kMaxWinnerId;
  row->entry.winner_id = id_fits ? static_cast<uint64_t>(from.winner_id) : 0;
  const auto batch = static_cast<uint16_t>(from.problem.batch);
  row->need = {batch,
               batch,
               static_cast<uint8_t>(from.problem.q_len),
               static_cast<uint8_t>(from.problem.nhead),
               is_winner(kind) ? from.config.splits : 0};
  evidence->family = family_key(from.problem);
  evidence->tuning_id = from.tuning_id;
  evidence->problem = from.problem;
  evidence->error = static_cast<float>(median_error(from.placebo_noise, from.rounds));
  evidence->carries = from.against_default && from.default_config == live_default &&
                      pack_config(live_default, &evidence->default_config);
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
               LoadedRows* read) {
  const size_t rows_before = read->rows.size();
  int64_t unfit = 0;
  try {
    const auto keep = [&](const db::SnapshotRow& from) {
      TunedRow row;
      Evidence evidence;
      if (make_row(from, file, default_policy, &row, &evidence)) {
        row.evidence = static_cast<uint32_t>(read->evidence.size());
        read->rows.push_back(row);
        read->evidence.push_back(evidence);
      } else {
        ++unfit;
      }
    };
    const auto keep_loss = [&](const db::SnapshotLoss& from) {
      const double error = median_error(from.placebo_noise, from.rounds);
      FileLoss loss = {file, from.tuning_id, {0, from.loss, static_cast<float>(error)}};
      if (pack_config(from.config, &loss.loss.config)) read->losses.push_back(loss);
    };
    const db::SnapshotLoad load = db::load_snapshot(path, space, {keep, keep_loss});
    if (load.rows_skipped + unfit > 0) read->warnings.push_back(skipped_text(path, load, unfit));
  } catch (const Error& error) {
    read->rows.resize(rows_before);  // what else was read belongs to no row
    ++read->failed_files;
    read->warnings.push_back(error.what());
  }
}

}  // namespace

LoadedRows load_rows(const std::vector<std::string>& paths,
                     const Space& space,
                     const DefaultPolicy& default_policy) {
  LoadedRows read;
  for (size_t file = 0; file < paths.size(); ++file) {
    if (file < kMaxFiles) {
      load_file(paths[file], file, space, default_policy, &read);
    } else {
      ++read.failed_files;
      read.warnings.push_back(paths[file] + ": more than 255 databases are not supported");
    }
  }
  return read;
}

}  // namespace mla::policy

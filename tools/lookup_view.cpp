// SPDX-License-Identifier: MIT
#include "tools/lookup_view.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "db/store.h"
#include "kernels/error.h"
#include "policy/shape_grid.h"
#include "tools/results.h"

namespace mla::tools {
namespace {

// The rows of one file that are of this device.
struct DeviceRows {
  std::optional<db::Store> store;  // nothing: the lookup table warned about this very file
  std::vector<db::TuningSummary> summaries;
};

DeviceRows rows_of(const std::string& path, const DeviceInfo& device) {
  DeviceRows rows;
  try {
    rows.store.emplace(db::Store::open(path, db::OpenMode::kReadOnly));
    rows.summaries = rows.store->summaries();
    std::erase_if(rows.summaries, [&](const db::TuningSummary& summary) {
      return device_key(summary.device) != device_key(device);
    });
  } catch (const Error&) {
    rows.summaries.clear();
  }
  return rows;
}

// Indices of the tuned shapes around the problem.
std::set<size_t> neighbours(const Problem& problem,
                            const std::vector<db::TuningSummary>& summaries) {
  std::vector<policy::GridPoint> points;
  for (const db::TuningSummary& summary : summaries) {
    const Problem& p = summary.winner.problem;
    points.push_back({family_key(p), p.batch, p.seq_len});
  }
  std::set<size_t> around;
  policy::for_each_cell(points, [&](const policy::GridCell& cell) {
    const bool inside = cell.family == family_key(problem) && cell.first_batch <= problem.batch &&
                        problem.batch <= cell.last_batch && cell.lengths.first <= problem.seq_len &&
                        problem.seq_len <= cell.lengths.last;
    if (inside) around.insert(cell.corners.begin(), cell.corners.end());
  });
  return around;
}

void consider(const std::string& path, const DeviceRows& rows, LookupView* view) {
  const std::set<size_t> around = neighbours(view->problem, rows.summaries);
  for (size_t i = 0; i < rows.summaries.size(); ++i) {
    const db::TuningSummary& summary = rows.summaries[i];
    const ShapeKey exact = exact_key(summary.winner.problem);
    const bool same = view->exact != kNoKey && exact == view->exact;
    const bool near = view->bucket != kNoKey && bucket_key(summary.winner.problem) == view->bucket;
    if (!same && !near && around.count(i) == 0) continue;
    view->candidates.push_back({same   ? "exact"
                                : near ? "bucket"
                                       : "neighbour",
                                path,
                                summary.run.started_utc,
                                summary.winner,
                                rows.store->load_losses(summary.tuning_id)});
  }
}

std::string loss_text(const db::LossRecord& loss) {
  if (loss.rounds == 0) {
    return fmt::format("          there    {}: could not be measured\n", to_text(loss.config));
  }
  return fmt::format("          there    {}: {} over the default, {} of {} rounds won, {} lost\n",
                     to_text(loss.config),
                     percent_text(1 / (1 + loss.loss) - 1),
                     loss.wins,
                     loss.rounds,
                     loss.losses);
}

std::string evidence_text(const StoredCandidate& candidate, bool relative) {
  const db::WinnerRecord& w = candidate.winner;
  std::string text = fmt::format("  {:<9} {}\n", candidate.match, to_text(w.problem));
  text += fmt::format("          {}  {}  against {} {}, {} of {} rounds won, {} lost, p {:.2g}\n",
                      verdict_text(w.verdict),
                      gain_text(w),
                      w.reference,
                      time_text(w.default_us, relative),
                      w.wins,
                      w.rounds,
                      w.losses,
                      w.p_value);
  text += fmt::format("          answers  {}\n", to_text(w.config));
  if (w.finalist != w.config) {
    text += fmt::format(
        "          finalist {}  ({})\n", to_text(w.finalist), percent_text(w.finalist_gain));
  }
  for (const db::LossRecord& loss : candidate.losses) text += loss_text(loss);
  return text + fmt::format("          {} winner, placebo noise {:.2f}%, run of {}, {}\n",
                            db::name(w.status),
                            100 * w.placebo_noise,
                            candidate.started_utc,
                            candidate.database);
}

}  // namespace

bool from_database(policy::Source source) {
  return source != policy::Source::kDefault && source != policy::Source::kDisabled;
}

void add_candidates(const std::vector<std::string>& databases,
                    const DeviceInfo& device,
                    std::vector<LookupView>* views) {
  for (const std::string& path : databases) {
    const DeviceRows rows = rows_of(path, device);
    for (LookupView& view : *views) consider(path, rows, &view);
  }
}

std::string lookup_text(const LookupView& view, bool explain) {
  const policy::Answer& answer = view.answer;
  std::string text = fmt::format("{}\n", to_text(view.problem));
  text += fmt::format("config    {}\n", to_text(answer.config));
  text += fmt::format("source    {}: {}\n", policy::name(answer.source), answer.reason);
  if (from_database(answer.source)) {
    if (answer.gain > 0) {
      text += fmt::format("gain      {} over the default when it was tuned\n",
                          percent_text(answer.gain));
    }
    if (answer.expected_us > 0) {
      text += fmt::format("expected  {}\n", time_text(answer.expected_us, view.relative_times));
    }
    text += fmt::format("database  {}\n", answer.database);
  }
  if (!explain) return text;
  text += fmt::format("default   {}\n", to_text(view.default_config));
  text += fmt::format("key       exact {:016x}, bucket {:016x} (length bucket {})\n",
                      view.exact,
                      view.bucket,
                      view.problem.seq_len > 0 ? length_bucket(view.problem.seq_len) : 0);
  text += view.candidates.empty()
              ? "considered  no stored winner of this key or bucket, or around it\n"
              : "considered\n";
  for (const StoredCandidate& candidate : view.candidates) {
    text += evidence_text(candidate, view.relative_times);
  }
  return text;
}

}  // namespace mla::tools

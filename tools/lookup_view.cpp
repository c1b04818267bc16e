// SPDX-License-Identifier: MIT
#include "tools/lookup_view.h"

#include <fmt/format.h>

#include "db/store.h"
#include "kernels/error.h"
#include "tools/results.h"

namespace mla::tools {
namespace {

std::vector<db::TuningSummary> readable_summaries(const std::string& path) {
  try {
    return db::Store::open(path, db::OpenMode::kReadOnly).summaries();
  } catch (const Error&) {
    return {};  // the lookup table warned about this very file
  }
}

void consider(const std::string& path, const db::TuningSummary& summary, LookupView* view) {
  const ShapeKey exact = exact_key(summary.winner.problem);
  const bool same = view->exact != kNoKey && exact == view->exact;
  const bool near = view->bucket != kNoKey && bucket_key(summary.winner.problem) == view->bucket;
  if (!same && !near) return;
  view->candidates.push_back(
      {same ? "exact" : "bucket", path, summary.run.started_utc, summary.winner});
}

std::string evidence_text(const StoredCandidate& candidate, bool relative) {
  const db::WinnerRecord& w = candidate.winner;
  std::string text = fmt::format("  {:<7} {}\n", candidate.match, to_text(w.problem));
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
    for (const db::TuningSummary& summary : readable_summaries(path)) {
      if (device_key(summary.device) != device_key(device)) continue;
      for (LookupView& view : *views) consider(path, summary, &view);
    }
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
  text += view.candidates.empty() ? "considered  no stored winner of this key or bucket\n"
                                  : "considered\n";
  for (const StoredCandidate& candidate : view.candidates) {
    text += evidence_text(candidate, view.relative_times);
  }
  return text;
}

}  // namespace mla::tools

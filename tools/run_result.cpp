// SPDX-License-Identifier: MIT
#include "tools/run_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/commands.h"
#include "tools/results.h"

namespace mla::tools {
namespace {

std::vector<db::WinnerRecord> winners_of(const tuner::SessionResult& result) {
  std::vector<db::WinnerRecord> winners;
  for (const tuner::ShapeResult& shape : result.shapes) {
    if (shape.answered()) winners.push_back(shape.winner);
  }
  return winners;
}

bool any(const tuner::SessionResult& result, tuner::ShapeStatus status) {
  return std::any_of(result.shapes.begin(),
                     result.shapes.end(),
                     [&](const tuner::ShapeResult& shape) { return shape.status == status; });
}

std::string left_out_text(const tuner::SessionResult& result) {
  std::string text;
  for (const tuner::ShapeResult& shape : result.shapes) {
    if (shape.answered()) continue;
    const char* what = shape.status == tuner::ShapeStatus::kOutOfBudget ? "out of budget"
                       : shape.status == tuner::ShapeStatus::kStopped   ? "stopped"
                                                                        : "failed";
    text += fmt::format("mla-tune run: {}: {}{}{}\n",
                        to_text(shape.problem),
                        what,
                        shape.text.empty() || shape.text == what ? "" : ": ",
                        shape.text == what ? "" : shape.text);
  }
  return text;
}

}  // namespace

int run_status(const tuner::SessionResult& result, int signal) {
  if (signal != 0) return kSignalBase + signal;
  if (any(result, tuner::ShapeStatus::kOutOfBudget)) return kStoppedEarly;
  const bool failed =
      any(result, tuner::ShapeStatus::kFailed) ||
      std::any_of(result.shapes.begin(), result.shapes.end(), [](const tuner::ShapeResult& shape) {
        return shape.answered() && shape.winner.verdict == db::Verdict::kFailed;
      });
  return failed ? kNegativeAnswer : kDone;
}

std::string run_status_text(int status) {
  if (status == kDone) return "done";
  if (status == kStoppedEarly) return "out_of_budget";
  return status == kNegativeAnswer ? "failed" : "stopped";
}

namespace {

// Empty where no winner had to be measured at a neighbour.
std::string crossing_text(const tuner::CrossingCounts& crossing) {
  if (crossing.planned == 0) return "";
  const int64_t left = crossing.planned - crossing.held - crossing.lost;
  return fmt::format("between shapes: {} of {} winners held at a neighbouring shape{}\n",
                     crossing.held,
                     crossing.planned,
                     left > 0 ? fmt::format(", {} not measured yet", left) : "");
}

std::string refine_text(const tuner::RefineCounts& refine) {
  if (refine.tuned + refine.left == 0) return "";
  return fmt::format("between winners that lose to each other: {} shapes added{}\n",
                     refine.tuned,
                     refine.left > 0 ? fmt::format(", {} more would be needed", refine.left) : "");
}

std::string robust_text(const std::vector<tuner::RobustPlan>& plans) {
  std::string text;
  for (const tuner::RobustPlan& plan : plans) {
    const db::WinnerRecord& winner = plan.winner;
    text += fmt::format("unknown length: {}: worst regret {:.2f}%, {} to {} over the default, {}\n",
                        shape_options(winner.problem),
                        100 * plan.worst_regret,
                        percent_text(winner.gain_low),
                        percent_text(winner.gain_high),
                        to_text(winner.config));
  }
  return text;
}

}  // namespace

std::string run_text(const RunDocument& run, const Terminal& terminal) {
  const std::vector<db::WinnerRecord> winners = winners_of(*run.result);
  if (winners.empty()) return "no shape was finished\n";
  return winner_table(winners, run.device.relative_times).text(terminal) +
         wrapped(terminal,
                 fmt::format("{}; {} of {} shapes in {}, {} samples measured, {} reused\n",
                             summary_text(summarize(winners)),
                             winners.size(),
                             run.result->shapes.size(),
                             duration_text(run.result->elapsed_s),
                             count_text(run.result->samples_measured),
                             count_text(run.result->samples_reused)) +
                     crossing_text(run.result->crossing) + refine_text(run.result->refine) +
                     robust_text(run.result->robust),
                 2);
}

std::string next_steps(const RunDocument& run, int status, const Terminal& terminal) {
  const std::vector<db::WinnerRecord> winners = winners_of(*run.result);
  if (winners.empty() || status >= kSignalBase) return "";
  const std::string database = "--db " + shell_quoted({run.database});
  const std::string device = "--device " + shell_quoted({run.device_specs.front()});
  const db::WinnerRecord& shown = winners.back();
  const std::string shape = shape_options(shown.problem);
  const KernelConfig& config =
      shown.verdict == db::Verdict::kFaster ? shown.config : shown.finalist;
  std::string text;
  for (const std::string& command :
       {fmt::format("mla-tune report {} --html report.html", database),
        fmt::format("mla-tune lookup {} {} {} --explain", device, database, shape),
        fmt::format(
            "mla-tune bench {} {} --config {}", device, shape, shell_quoted({to_text(config)}))}) {
    text += (text.empty() ? "next: " : "      ") + wrapped_command(terminal, command, 6) + "\n";
  }
  return text;
}

std::string run_notes(const RunDocument& run, int status, bool verbose, const Terminal& terminal) {
  std::string text = left_out_text(*run.result);
  const ResultSummary summary = summarize(winners_of(*run.result));
  if (summary.placebo_noise > kNoiseWarning) {
    text += fmt::format(
        "mla-tune run: warning: the placebo moved by {:.2f}%: this machine is noisy, gains below "
        "that say little\n",
        100 * summary.placebo_noise);
  }
  for (const db::WinnerRecord& winner : winners_of(*run.result)) {
    if (winner.reference == "default") continue;
    text += fmt::format("mla-tune run: {}: compared with the {} baseline\n",
                        to_text(winner.problem),
                        winner.reference);
  }
  if (verbose) {
    const tuner::DeviceTime& device = run.result->device;
    text += fmt::format(
        "mla-tune run: {:.2f} s in all; on the device {:.2f} s of inputs and references, {:.2f} s "
        "of checks, {:.2f} s of samples\n",
        run.result->elapsed_s,
        device.select_s,
        device.admit_s,
        device.sample_s);
  }
  text = wrapped(terminal, text, 4);
  if (status == kStoppedEarly || status >= kSignalBase) {
    const std::string resume =
        fmt::format("mla-tune run: saved in {}; resume with: {}", run.database, run.command_line);
    text += wrapped_command(terminal, resume, 0) + "\n";
  }
  return text;
}

std::string failure_text(const FailureCounts& failures,
                         const std::string& device_spec,
                         const Terminal& terminal) {
  std::string text;
  for (const auto& [kind, failure] : failures) {
    if (kind == OutcomeKind::kNotRecorded) continue;
    const std::string command = fmt::format("mla-tune bench --device {} {} --config {}",
                                            shell_quoted({device_spec}),
                                            shape_options(failure.problem),
                                            shell_quoted({to_text(failure.config)}));
    text +=
        wrapped(terminal,
                fmt::format(
                    "mla-tune run: {} x {}, first: {}\n", failure.count, name(kind), failure.text),
                4) +
        "    " + wrapped_command(terminal, command, 4) + "\n";
  }
  return text;
}

std::string shape_options(const Problem& p) {
  const Problem defaults;
  std::string text = fmt::format("--batch {} --nhead {}", p.batch, p.nhead);
  if (p.seq_len > 0) text += fmt::format(" --seq-len {}", p.seq_len);
  if (p.q_len != defaults.q_len) text += fmt::format(" --q-len {}", p.q_len);
  if (p.page_size != defaults.page_size) text += fmt::format(" --page-size {}", p.page_size);
  if (p.kv_dtype != defaults.kv_dtype) text += fmt::format(" --kv-dtype {}", name(p.kv_dtype));
  if (p.shared_prefix > 0) {
    text += fmt::format(" --shared-prefix {}/{}", p.shared_prefix, p.share_group);
  }
  if (p.imbalance != defaults.imbalance) text += fmt::format(" --imbalance {}", p.imbalance);
  if (p.pool != defaults.pool) text += fmt::format(" --pool {}", name(p.pool));
  return text;
}

}  // namespace mla::tools

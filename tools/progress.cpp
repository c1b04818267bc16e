// SPDX-License-Identifier: MIT
#include "tools/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/results.h"

namespace mla::tools {
namespace {

constexpr double kPlainEveryS = 10;  // a log of an hour's run stays readable
constexpr double kLiveEveryS = 0.1;  // faster than this nobody can read
constexpr int kBarWidth = 16;
constexpr size_t kPermanentIndent = 8;  // below the shape, which follows the clock

std::string bar(int64_t done, int64_t total) {
  const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  const int full = static_cast<int>(std::clamp(part, 0.0, 1.0) * kBarWidth);
  return fmt::format("[{:#<{}}{:-<{}}]", "", full, "", kBarWidth - full);
}

std::string clock_text(double elapsed_s) {
  const auto whole = static_cast<int64_t>(std::max(elapsed_s, 0.0));
  return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

Style verdict_style(db::Verdict verdict) {
  if (verdict == db::Verdict::kFaster) return Style::kGood;
  return verdict == db::Verdict::kFailed ? Style::kBad : Style::kPlain;
}

}  // namespace

std::string eta_text(double low_s, double high_s) {
  const std::string low = duration_text(low_s);
  const std::string high = duration_text(high_s);
  return low == high ? low : low + "-" + high;
}

RunProgress::RunProgress(std::FILE* stream,
                         const Terminal& terminal,
                         const ProgressOptions& options)
    : stream_(stream), terminal_(terminal), options_(options) {}

void RunProgress::clear() {
  if (line_shown_) say(stream_, "\r\033[K");
  line_shown_ = false;
}

void RunProgress::on_event(const tuner::ProgressEvent& event) {
  using Kind = tuner::ProgressEvent::Kind;
  switch (event.kind) {
    case Kind::kShapeBegin:
      permanent(event,
                Style::kDim,
                fmt::format("begin {}/{}{}",
                            event.shape + 1,
                            event.shapes,
                            event.resumed_rounds > 0
                                ? fmt::format(", {} rounds resumed", event.resumed_rounds)
                                : ""));
      break;
    case Kind::kAdmitFailed:
      failure(event);
      break;
    case Kind::kNewBest:
      if (event.gain <= 0) break;  // the default itself, until something is faster
      permanent(event,
                Style::kPlain,
                fmt::format("new best  {}  {}  {}",
                            time_text(event.best_us, options_.relative_times),
                            percent_text(event.gain),
                            to_text(event.config)));
      break;
    case Kind::kShapeEnd:
      // A shape that was stopped or could not be measured ends with no winner of its own.
      if (event.winner == nullptr || event.winner->problem != event.problem) break;
      permanent(event,
                verdict_style(event.winner->verdict),
                fmt::format("{}  {}  {}",
                            verdict_text(event.winner->verdict),
                            gain_text(*event.winner),
                            to_text(event.winner->config)));
      break;
    case Kind::kShapeSkipped:
      permanent(event, Style::kDim, "already tuned");
      break;
    case Kind::kCrossBegin:
      permanent(event,
                Style::kDim,
                fmt::format("{} winners to measure at the shapes around theirs", event.total));
      break;
    case Kind::kRound:
    case Kind::kFinalRound:
    case Kind::kCrossRound:
      break;
  }
  if (event.kind != Kind::kShapeEnd && event.kind != Kind::kShapeSkipped) status(event);
}

void RunProgress::failure(const tuner::ProgressEvent& event) {
  FailureCount& failure = failures_[event.outcome.kind];
  if (failure.count++ == 0) {
    failure.problem = event.problem;
    failure.config = event.config;
    failure.text = event.outcome.text;
  }
  // Most of a replayed space was never recorded, which is no failure of the candidate.
  const bool expected = event.outcome.kind == OutcomeKind::kNotRecorded;
  if (!options_.every_failure && (expected || failure.count > 1)) return;
  permanent(event,
            Style::kWarn,
            fmt::format("failed    {}: {}  ({})",
                        name(event.outcome.kind),
                        event.outcome.text,
                        to_text(event.config)));
}

void RunProgress::permanent(const tuner::ProgressEvent& event,
                            Style style,
                            const std::string& text) {
  if (!options_.permanent) return;
  clear();
  const std::string head =
      fmt::format(" {}  {}  ", clock_text(event.elapsed_s), to_text(event.problem));
  const std::string line = wrapped(terminal_, head + text, kPermanentIndent);
  // Lines that break within the shape have no place where the colour begins.
  const bool whole_head = line.starts_with(head);
  say(stream_,
      (whole_head ? head + paint(terminal_, style, line.substr(head.size())) : line) + "\n");
}

void RunProgress::status(const tuner::ProgressEvent& event) {
  const double every_s = terminal_.live ? kLiveEveryS : kPlainEveryS;
  if (event.total == 0) return;  // nothing is planned yet
  if (!options_.lines || event.elapsed_s - last_status_s_ < every_s) return;
  last_status_s_ = event.elapsed_s;
  if (terminal_.live) {
    say(stream_, "\r\033[K" + live_line(event));
    std::fflush(stream_);
    line_shown_ = true;
    return;
  }
  const std::string best = event.best_us > 0
                               ? fmt::format(" best_{}={:.4g} gain={:.4f}",
                                             options_.relative_times ? "relative" : "us",
                                             event.best_us,
                                             event.gain)
                               : "";
  say(stream_,
      fmt::format("progress done={} total={} failed={} problem={}/{}{} eta_s={:.0f}..{:.0f}\n",
                  event.done,
                  event.total,
                  event.failed,
                  event.shape + 1,
                  event.shapes,
                  best,
                  event.eta_low_s,
                  event.eta_high_s));
}

std::string RunProgress::live_line(const tuner::ProgressEvent& event) const {
  struct Part {
    int keep;  // the lowest goes first where the line is too long
    std::string text;
  };
  std::vector<Part> parts = {{2, bar(event.done, event.total)},
                             {6, fmt::format("{}/{}", event.done, event.total)},
                             {3, fmt::format("fail {}", event.failed)},
                             {4, fmt::format("shape {}/{}", event.shape + 1, event.shapes)},
                             {1, to_text(event.problem)}};
  if (event.best_us > 0) {
    parts.push_back({5,
                     fmt::format("best {} {}",
                                 time_text(event.best_us, options_.relative_times),
                                 percent_text(event.gain))});
  }
  parts.push_back({7, "ETA " + eta_text(event.eta_low_s, event.eta_high_s)});

  const auto joined = [&] {
    std::string line;
    for (const Part& part : parts) line += (line.empty() ? " " : "  ") + part.text;
    return line;
  };
  // A line of full width would move the cursor on, and the next one would leave it behind.
  const size_t room = terminal_.width > 0 ? terminal_.width - 1 : std::string::npos;
  while (joined().size() > room && parts.size() > 1) {
    parts.erase(std::min_element(
        parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.keep < b.keep; }));
  }
  return joined().substr(0, room);
}

}  // namespace mla::tools

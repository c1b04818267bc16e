// SPDX-License-Identifier: MIT
// A sweep as Markdown: the levers per shape, then the dose-response.
#include <fmt/format.h>

#include <algorithm>

#include "tools/markdown.h"
#include "tools/results.h"
#include "tools/sweep.h"

namespace mla::tools {
namespace {

using Cells = std::vector<std::string>;

void append(Cells* cells, const Cells& more) {
  cells->insert(cells->end(), more.begin(), more.end());
}

Cells shape_titles(const std::vector<SweptGroup>& groups) {
  std::vector<Problem> problems;
  for (const SweptGroup& group : groups) problems.push_back(group.problem);
  return shape_columns(problems);
}

Cells gain_cells(const SweptLeg& leg) {
  if (!is_judged(leg)) return {"", "", ""};
  const tuner::GuardDecision& d = leg.result.decision;
  return {percent_text(d.gain),
          fmt::format("{:.2f}..{:.2f}", 100 * d.gain_low, 100 * d.gain_high),
          fmt::format("{}/{}/{}", d.wins, d.losses, d.rounds)};
}

std::string lever_table(const Sweep& sweep) {
  const bool relative = sweep.device.relative_times;
  const Cells shape = shape_titles(sweep.levers);
  Cells titles = shape;
  append(&titles,
         {"leg",
          relative ? "relative" : "us",
          "gain",
          "quartiles %",
          "won/lost/rounds",
          "waves",
          "trips",
          "verdict",
          "config"});
  std::string text = markdown_head(titles);
  for (const SweptGroup& group : sweep.levers) {
    for (const SweptLeg& leg : group.legs) {
      Cells cells = shape_cells(shape, group.problem);
      append(&cells, {leg.plan.name, time_cell(leg.result.time_us, relative)});
      append(&cells, gain_cells(leg));
      append(&cells,
             {std::to_string(leg.use.waves),
              std::to_string(leg.use.trips),
              verdict_text(leg),
              markdown_code(to_text(leg.plan.config))});
      text += markdown_row(cells);
    }
  }
  return text;
}

// A point that a recording lacks or a device does not allow has nothing to show.
bool has_times(const SweptGroup& group) {
  return group.legs.front().result.time_us > 0;
}

std::string dose_table(const Sweep& sweep) {
  const bool relative = sweep.device.relative_times;
  const Cells shape = shape_titles(sweep.dose);
  Cells titles = shape;
  append(&titles,
         {"splits",
          "workgroups",
          "waves",
          "trips",
          relative ? "baseline relative" : "baseline us",
          "gain",
          "quartiles %",
          "won/lost/rounds",
          "verdict"});
  std::string text = markdown_head(titles);
  for (const SweptGroup& group : sweep.dose) {
    if (!has_times(group)) continue;
    const SweptLeg& leg = group.legs.back();
    Cells cells = shape_cells(shape, group.problem);
    append(&cells,
           {std::to_string(leg.plan.config.splits),
            std::to_string(leg.use.stage1_workgroups),
            std::to_string(leg.use.waves),
            std::to_string(leg.use.trips),
            time_cell(group.legs.front().result.time_us, relative)});
    append(&cells, gain_cells(leg));
    cells.push_back(verdict_text(leg));
    text += markdown_row(cells);
  }
  return text;
}

std::string splits_with(const std::vector<const SweptGroup*>& groups, tuner::GuardState state) {
  std::vector<int32_t> splits;
  for (const SweptGroup* group : groups) {
    const SweptLeg& leg = group->legs.back();
    if (is_judged(leg) && leg.result.decision.state == state) {
      splits.push_back(leg.plan.config.splits);
    }
  }
  return splits.empty() ? "none" : fmt::format("{}", fmt::join(splits, ", "));
}

// A workgroup for each compute unit or fewer.
std::string one_wave_text(const std::vector<const SweptGroup*>& groups) {
  int points = 0, faster = 0, slower = 0;
  for (const SweptGroup* group : groups) {
    const SweptLeg& leg = group->legs.back();
    if (!is_judged(leg) || leg.use.waves != 1) continue;
    ++points;
    faster += leg.result.decision.state == tuner::GuardState::kAccepted;
    slower += leg.result.decision.state == tuner::GuardState::kSlower;
  }
  return fmt::format("of {} points of one wave {} faster, {} slower", points, faster, slower);
}

// Where the lever's sign flips, by shape.
std::string dose_summary(const Sweep& sweep) {
  std::string text;
  std::vector<const SweptGroup*> same_shape;
  const auto flush = [&] {
    if (same_shape.empty()) return;
    text += fmt::format("- {}: faster at splits {}; slower at {}; {}\n",
                        to_text(same_shape.front()->problem),
                        splits_with(same_shape, tuner::GuardState::kAccepted),
                        splits_with(same_shape, tuner::GuardState::kSlower),
                        one_wave_text(same_shape));
    same_shape.clear();
  };
  for (const SweptGroup& group : sweep.dose) {
    if (!same_shape.empty() && same_shape.front()->problem != group.problem) flush();
    if (has_times(group)) same_shape.push_back(&group);
  }
  flush();
  return text;
}

std::string points_left_out(const Sweep& sweep) {
  const auto count = std::count_if(
      sweep.dose.begin(), sweep.dose.end(), [](const auto& group) { return !has_times(group); });
  if (count == 0) return "";
  const auto first = std::find_if(
      sweep.dose.begin(), sweep.dose.end(), [](const auto& group) { return !has_times(group); });
  return fmt::format("\n{} points have no times; the first, splits={}: {}\n",
                     count,
                     first->legs.front().plan.config.splits,
                     verdict_text(first->legs.front()));
}

std::string noise_text(const std::vector<SweptGroup>& groups) {
  double noise = 0;
  for (const SweptGroup& group : groups) noise = std::max(noise, group.placebo_noise);
  return fmt::format("\nThe baseline's second copy moved by up to {:.2f}%{}.\n",
                     100 * noise,
                     noise > kNoiseWarning ? ": this machine is noisy" : "");
}

}  // namespace

std::string sweep_markdown(const Sweep& sweep) {
  std::string text = fmt::format("# Sweep of {} ({})\n\n`{}`\n",
                                 markdown_cell(sweep.device.name),
                                 device_key(sweep.device),
                                 sweep.command_line);
  text += "\nGain: baseline time / leg time - 1, formed inside its round; median and quartiles.\n";
  if (!sweep.levers.empty()) {
    text += "\n## Levers\n\n" + lever_table(sweep) + noise_text(sweep.levers);
  }
  if (!sweep.dose.empty()) {
    text += fmt::format("\n## Dose-response of {}\n\n", name(sweep.lever)) + dose_table(sweep) +
            "\n" + dose_summary(sweep) + points_left_out(sweep) + noise_text(sweep.dose);
  }
  return text;
}

}  // namespace mla::tools

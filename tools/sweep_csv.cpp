// SPDX-License-Identifier: MIT
// A sweep as CSV, and as the recording that the replay device serves. Both have one line per leg.
#include <fmt/format.h>

#include <algorithm>

#include "tools/csv_text.h"
#include "tools/report/levers.h"
#include "tools/sweep.h"
#include "tuner/recording.h"

namespace mla::tools {
namespace {

using Cells = std::vector<std::string>;

void append(Cells* cells, const Cells& more) {
  cells->insert(cells->end(), more.begin(), more.end());
}

template <class Function>
void for_each_leg(const Sweep& sweep, Function function) {
  for (const SweptGroup& group : sweep.levers) {
    for (const SweptLeg& leg : group.legs) function("levers", group, leg);
  }
  for (const SweptGroup& group : sweep.dose) {
    for (const SweptLeg& leg : group.legs) function("dose", group, leg);
  }
}

// Knobs that some leg has; a knob that a recording lacks matches any value.
std::vector<Knob> knobs_of(const Sweep& sweep) {
  std::vector<Knob> knobs;
  for (const Knob knob : kKnobs) {
    bool used = false;
    for_each_leg(sweep, [&](const char*, const SweptGroup&, const SweptLeg& leg) {
      used = used || !is_left_out(knob, get(leg.plan.config, knob));
    });
    if (used) knobs.push_back(knob);
  }
  return knobs;
}

Cells knob_titles(const std::vector<Knob>& knobs) {
  Cells titles;
  for (const Knob knob : knobs) titles.emplace_back(name(knob));
  return titles;
}

Cells knob_cells(const std::vector<Knob>& knobs, const KernelConfig& config) {
  Cells cells;
  for (const Knob knob : knobs) cells.push_back(value_text(knob, get(config, knob)));
  return cells;
}

size_t most_rounds(const Sweep& sweep) {
  size_t most = 0;
  for_each_leg(sweep, [&](const char*, const SweptGroup&, const SweptLeg& leg) {
    most = std::max(most, leg.round_gains.size());
  });
  return most;
}

Cells result_cells(const Sweep& sweep, const SweptGroup& group, const SweptLeg& leg) {
  const bool judged = is_judged(leg);
  const tuner::GuardDecision& d = leg.result.decision;
  const auto if_judged = [&](const std::string& text) { return judged ? text : ""; };
  const bool timed = leg.result.time_us > 0;
  return {std::to_string(leg.use.stage1_workgroups),
          std::to_string(leg.use.waves),
          std::to_string(leg.use.trips),
          timed && !sweep.device.relative_times ? csv_number(leg.result.time_us) : "",
          timed && sweep.device.relative_times ? csv_number(leg.result.time_us) : "",
          if_judged(csv_number(d.gain)),
          if_judged(csv_number(d.gain_low)),
          if_judged(csv_number(d.gain_high)),
          if_judged(std::to_string(d.rounds)),
          if_judged(std::to_string(d.wins)),
          if_judged(std::to_string(d.losses)),
          if_judged(csv_number(d.p_value)),
          csv_number(group.placebo_noise),
          verdict_text(leg)};
}

}  // namespace

std::string sweep_csv(const Sweep& sweep) {
  const std::vector<Knob> knobs = knobs_of(sweep);
  const size_t rounds = most_rounds(sweep);
  Cells titles = {"table"};
  append(&titles, tuner::problem_fields());
  titles.emplace_back("leg");
  append(&titles, knob_titles(knobs));
  append(&titles,
         {"workgroups",
          "waves",
          "trips",
          "time_us",
          "relative_time",
          "gain",
          "gain_low",
          "gain_high",
          "rounds",
          "wins",
          "losses",
          "p_value",
          "placebo_noise",
          "verdict"});
  for (size_t i = 1; i <= rounds; ++i) titles.push_back(fmt::format("gain_round{}", i));

  std::string text = csv_comment(swept_device_text(sweep.device)) +
                     csv_comment(sweep.command_line) + csv_line(titles);
  for_each_leg(sweep, [&](const char* table, const SweptGroup& group, const SweptLeg& leg) {
    Cells cells = {table};
    append(&cells, tuner::problem_texts(group.problem));
    cells.push_back(leg.plan.name);
    append(&cells, knob_cells(knobs, leg.plan.config));
    append(&cells, result_cells(sweep, group, leg));
    for (size_t i = 0; i < rounds; ++i) {
      const bool held = is_judged(leg) && i < leg.round_gains.size();
      cells.push_back(held ? csv_number(leg.round_gains[i]) : "");
    }
    text += csv_line(cells);
  });
  return text;
}

std::string sweep_recording(const Sweep& sweep) {
  const std::vector<Knob> knobs = knobs_of(sweep);
  Cells titles = tuner::problem_fields();
  titles.emplace_back("leg");
  append(&titles, knob_titles(knobs));
  append(&titles, {"trips", "gain_percent", "time_us"});

  // Nothing else that could read like the name of a device: no command line.
  std::string text =
      csv_comment(swept_device_text(sweep.device)) +
      csv_comment(
          "time_us: median over the rounds; gain_percent: median of 100 * (baseline time / "
          "leg time - 1), formed inside each round.") +
      csv_line(titles);
  for_each_leg(sweep, [&](const char*, const SweptGroup& group, const SweptLeg& leg) {
    if (!leg.result.outcome.ok() || !(leg.result.time_us > 0)) return;
    Cells cells = tuner::problem_texts(group.problem);
    cells.push_back(leg.plan.name);
    append(&cells, knob_cells(knobs, leg.plan.config));
    append(&cells,
           {std::to_string(leg.use.trips),
            fmt::format("{:.2f}", is_judged(leg) ? 100 * leg.result.decision.gain : 0),
            csv_number(leg.result.time_us)});
    text += csv_line(cells);
  });
  return text;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// `mla-tune sweep`: each lever against the drained baseline per batch, and one lever over forced
// split counts. Measures and returns plain structs; the writers are sweep_markdown.cpp,
// sweep_csv.cpp and json_sweep.cpp.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tools/paired_compare.h"
#include "tools/sweep_plan.h"
#include "tuner/session.h"

namespace mla::tools {

struct SweptLeg {
  SweepLeg plan;
  ResourceUse use;
  CompareLeg result;  // where the leg was not left out
  std::vector<double> round_gains;
};

struct SweptGroup {
  Problem problem;
  std::vector<SweptLeg> legs;  // baseline first
  double placebo_noise = 0;
  bool complete = true;  // false where the budget or a stop ended it
};

struct Sweep {
  std::string command_line;
  std::string device_spec;
  DeviceInfo device;
  db::Environment environment;
  std::string status;  // "done", "failed", "out_of_budget", "stopped", "device_lost"
  std::vector<SweptGroup> levers;
  Lever lever = Lever::kWait;  // of the dose-response
  std::vector<SweptGroup> dose;
};

struct SweepOptions {
  int rounds = tuner::kLooks.front().rounds;  // of every group, at most
  uint64_t seed = 1;
  double budget_s = 0;  // 0: no limit
};

// Appends the groups in order until the budget ends, so that `swept` holds what there is also where
// the device is lost (Error). Those that were not begun are missing. A group whose baseline is left
// out is not measured.
void measure_groups(tuner::CandidateSource& source,
                    const std::vector<SweepGroup>& groups,
                    const SweepOptions& options,
                    const std::function<void(const tuner::ProgressEvent&)>& observer,
                    const std::atomic<bool>& stop,
                    std::vector<SweptGroup>* swept);

// A leg with times that was compared with the baseline.
bool is_judged(const SweptLeg& leg);
// "baseline", "faster", "slower", "undecided", "left out: ...", "wrong: ...", "not measured".
std::string verdict_text(const SweptLeg& leg);

std::string sweep_markdown(const Sweep& sweep);
std::string sweep_csv(const Sweep& sweep);
// A recorded device: what `--device replay:FILE` takes.
std::string sweep_recording(const Sweep& sweep);
std::string sweep_json(const Sweep& sweep);

}  // namespace mla::tools

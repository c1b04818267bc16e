// SPDX-License-Identifier: MIT
#include "tools/sweep_plan.h"

#include <algorithm>

#include "kernels/error.h"
#include "policy/default_policy.h"

namespace mla::tools {
namespace {

Knob knob_of(Lever lever) {
  switch (lever) {
    case Lever::kWait:
      return Knob::kWait;
    case Lever::kOrder:
      return Knob::kOrder;
    case Lever::kStage2:
      return Knob::kStage2Tiles;
  }
  throw Error(ErrorCode::kInternal, "lever without a knob");
}

KernelConfig with_lever(const Space& space, Lever lever, KernelConfig config) {
  switch (lever) {
    case Lever::kWait:
      config.wait = Wait::kPartial;
      break;
    case Lever::kOrder:
      config.order = Order::kSplitMajor;
      break;
    case Lever::kStage2:
      return policy::DefaultPolicy(space).finest_stage2(config);
  }
  return config;
}

// A search leaves out the values of a knob that does nothing there; its note says why.
std::string missing_value(const KnobRange& range, int32_t value) {
  const auto holds = [value](const std::vector<int32_t>& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  if (holds(range.search)) return "";
  const std::string what = std::string(name(range.knob)) + "=" + value_text(range.knob, value);
  if (!holds(range.legal)) return "the device has no " + what;
  return what + " is not searched" + (range.note.empty() ? "" : ": " + range.note);
}

std::string why_left_out(const Space& space,
                         const Problem& problem,
                         const KernelConfig& baseline,
                         const KernelConfig& config) {
  if (config == baseline) return "the same as the baseline";
  return space.violation(problem, config).value_or("");
}

SweepLeg lever_leg(const Space& space,
                   const Problem& problem,
                   Lever lever,
                   const KernelConfig& baseline) {
  SweepLeg leg = {std::string(name(lever)), with_lever(space, lever, baseline), ""};
  const KnobRange& range = space.range(knob_of(lever));
  for (const KernelConfig& side : {baseline, leg.config}) {
    if (leg.left_out.empty()) leg.left_out = missing_value(range, get(side, range.knob));
  }
  if (lever == Lever::kStage2 && baseline.splits == 1) {
    leg.left_out = "one split leaves stage 2 nothing to do";
  }
  if (leg.left_out.empty()) leg.left_out = why_left_out(space, problem, baseline, leg.config);
  return leg;
}

SweepLeg baseline_leg(const Space& space, const Problem& problem, const KernelConfig& config) {
  return {"baseline", config, space.violation(problem, config).value_or("")};
}

}  // namespace

std::string_view name(Lever lever) {
  switch (lever) {
    case Lever::kWait:
      return "partial_wait";
    case Lever::kOrder:
      return "split_major";
    case Lever::kStage2:
      return "stage2_tiling";
  }
  return "unknown";
}

Lever parse_lever(std::string_view text) {
  if (text == "wait") return Lever::kWait;
  if (text == "order") return Lever::kOrder;
  if (text == "stage2") return Lever::kStage2;
  throw Error(ErrorCode::kInternal, "no lever " + std::string(text));
}

SweepGroup lever_group(const Space& space,
                       const Problem& problem,
                       const std::optional<KernelConfig>& tuned) {
  const KernelConfig baseline = policy::drained_baseline(space, problem);
  SweepGroup group = {problem, {baseline_leg(space, problem, baseline)}};
  for (const Lever lever : kLevers) {
    group.legs.push_back(lever_leg(space, problem, lever, baseline));
  }
  const KernelConfig all = policy::all_levers(space, problem);
  group.legs.push_back({"all_levers", all, why_left_out(space, problem, baseline, all)});
  if (tuned) {
    group.legs.push_back({"tuned", *tuned, why_left_out(space, problem, baseline, *tuned)});
  }
  return group;
}

SweepGroup dose_group(const Space& space, const Problem& problem, Lever lever, int32_t splits) {
  KernelConfig baseline = policy::drained_baseline(space, problem);
  baseline.splits = splits;
  return {problem,
          {baseline_leg(space, problem, baseline), lever_leg(space, problem, lever, baseline)}};
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// The document of a sweep.
#include <nlohmann/json.hpp>

#include "tools/json_values.h"
#include "tools/sweep.h"

namespace mla::tools {
namespace {

Json json_use(const ResourceUse& use) {
  return {{"workgroups", use.stage1_workgroups}, {"waves", use.waves}, {"trips", use.trips}};
}

Json json_leg(const SweptLeg& leg, bool relative) {
  Json object = {{"leg", leg.plan.name}, {"config", json_config(leg.plan.config)}};
  object.update(json_use(leg.use));
  if (!leg.plan.left_out.empty()) {
    object["left_out"] = leg.plan.left_out;
    return object;
  }
  object["outcome"] = std::string(name(leg.result.outcome.kind));
  object["text"] = leg.result.outcome.text;
  if (leg.result.time_us > 0) {
    object[relative ? "relative" : "time_us"] = json_number(leg.result.time_us);
    object["low"] = json_number(leg.result.low_us);
    object["high"] = json_number(leg.result.high_us);
  }
  if (!is_judged(leg)) return object;
  const tuner::GuardDecision& d = leg.result.decision;
  Json rounds = Json::array();
  for (const double gain : leg.round_gains) rounds.push_back(json_number(gain));
  object.update(Json{{"verdict", verdict_text(d.state)},
                     {"gain", json_number(d.gain)},
                     {"gain_low", json_number(d.gain_low)},
                     {"gain_high", json_number(d.gain_high)},
                     {"rounds", d.rounds},
                     {"wins", d.wins},
                     {"losses", d.losses},
                     {"p_value", json_number(d.p_value)},
                     {"round_gains", std::move(rounds)}});
  return object;
}

Json json_groups(const std::vector<SweptGroup>& groups, bool relative) {
  Json list = Json::array();
  for (const SweptGroup& group : groups) {
    Json legs = Json::array();
    for (const SweptLeg& leg : group.legs) legs.push_back(json_leg(leg, relative));
    list.push_back({{"problem", json_problem(group.problem)},
                    {"complete", group.complete},
                    {"placebo_noise", json_number(group.placebo_noise)},
                    {"legs", std::move(legs)}});
  }
  return list;
}

}  // namespace

std::string sweep_json(const Sweep& sweep) {
  const bool relative = sweep.device.relative_times;
  Json document = json_document();
  document["command"] = sweep.command_line;
  document["status"] = sweep.status;
  document["device_spec"] = sweep.device_spec;
  document["device"] = json_device(sweep.device);
  document["environment"] = json_environment(sweep.environment);
  document["levers"] = json_groups(sweep.levers, relative);
  document["dose"] = {{"lever", std::string(name(sweep.lever))},
                      {"groups", json_groups(sweep.dose, relative)}};
  return json_text(document);
}

}  // namespace mla::tools

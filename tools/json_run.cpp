// SPDX-License-Identifier: MIT
// Documents of devices, space, run, lookup and bench.
#include <nlohmann/json.hpp>

#include "tools/json.h"
#include "tools/json_values.h"
#include "tools/paired_compare.h"

namespace mla::tools {
namespace {

std::string status_text(tuner::ShapeStatus status) {
  switch (status) {
    case tuner::ShapeStatus::kDone:
      return "done";
    case tuner::ShapeStatus::kAlreadyDone:
      return "already_done";
    case tuner::ShapeStatus::kOutOfBudget:
      return "out_of_budget";
    case tuner::ShapeStatus::kStopped:
      return "stopped";
    case tuner::ShapeStatus::kFailed:
      return "failed";
  }
  return "failed";
}

Json json_pruned(const std::map<std::string, int64_t>& pruned) {
  Json object = Json::object();
  for (const auto& [constraint, count] : pruned) object[constraint] = count;
  return object;
}

Json json_range(const KnobRange& range) {
  const auto values = [&](const std::vector<int32_t>& numbers) {
    Json list = Json::array();
    for (const int32_t value : numbers) {
      if (is_named(range.knob)) {
        list.push_back(value_text(range.knob, value));
      } else {
        list.push_back(value);
      }
    }
    return list;
  };
  return {{"knob", std::string(name(range.knob))},
          {"legal", values(range.legal)},
          {"searched", values(range.search)},
          {"neutral", values({range.neutral})[0]},
          {"note", range.note}};
}

Json json_answer(const LookupView& view) {
  const policy::Answer& answer = view.answer;
  Json object = {{"config", json_config(answer.config)},
                 {"source", std::string(policy::name(answer.source))},
                 {"reason", std::string(answer.reason)},
                 {"gain", json_number(answer.gain)},
                 {"expected_us", json_time_us(answer.expected_us, view.relative_times)},
                 {"database", nullptr}};
  if (*answer.database != '\0') object["database"] = std::string(answer.database);
  return object;
}

Json json_explanation(const LookupView& view) {
  Json considered = Json::array();
  for (const StoredCandidate& candidate : view.candidates) {
    Json entry = {{"match", candidate.match},
                  {"database", candidate.database},
                  {"started_utc", candidate.started_utc}};
    entry.update(json_winner(candidate.winner, view.relative_times));
    entry["losses"] = Json::array();
    for (const db::LossRecord& loss : candidate.losses) {
      entry["losses"].push_back({{"config", json_config(loss.config)},
                                 {"loss", json_number(loss.loss)},
                                 {"rounds", loss.rounds},
                                 {"wins", loss.wins},
                                 {"losses", loss.losses}});
    }
    considered.push_back(std::move(entry));
  }
  return {{"problem", json_problem(view.problem)},
          {"exact_key", std::to_string(view.exact)},
          {"bucket_key", std::to_string(view.bucket)},
          {"default_config", json_config(view.default_config)},
          {"considered", std::move(considered)}};
}

Json json_budget(const LoopBudget& budget) {
  const auto pipe = [&](double cycles) {
    return Json{{"cycles", json_number(cycles)},
                {"share", json_number(cycles / budget.memory_cycles)}};
  };
  return {{"kernel", symbol_name(budget.kernel)},
          {"tile_n", budget.kernel.tile_n},
          {"stages", budget.kernel.stages},
          {"wait", name(budget.kernel.wait)},
          {"memory_cycles", json_number(budget.memory_cycles)},
          {"mfma", pipe(budget.cycles.mfma)},
          {"valu", pipe(budget.cycles.valu)},
          {"salu", pipe(budget.cycles.salu)},
          {"lds", pipe(budget.cycles.lds)},
          {"vmem", pipe(budget.cycles.vmem)},
          {"address_share", json_number(budget.address_share)},
          {"in_flight_bytes", json_number(budget.in_flight_bytes)},
          {"covered_ns", json_number(budget.covered_ns)},
          {"misses", budget.misses}};
}

}  // namespace

std::string devices_json(const std::vector<DeviceListing>& listings) {
  Json document = json_document();
  document["devices"] = Json::array();
  for (const DeviceListing& listing : listings) {
    Json entry = {{"spec", listing.spec}, {"usable", !listing.info.name.empty()}};
    entry.update(json_device(listing.info));
    entry["note"] = listing.note;
    document["devices"].push_back(std::move(entry));
  }
  return json_text(document);
}

std::string space_json(const Space& space,
                       const Problem& problem,
                       const Space::Listing& listing,
                       const std::vector<LoopBudget>* budgets) {
  Json document = json_document();
  document["device"] = json_device(space.device());
  document["problem"] = json_problem(problem);
  document["knobs"] = Json::array();
  for (const KnobRange& range : space.ranges()) document["knobs"].push_back(json_range(range));
  document["constraints"] = Json::array();
  for (const Constraint& constraint : space.constraints()) {
    document["constraints"].push_back({{"name", constraint.name}, {"reason", constraint.reason}});
  }
  document["configs"] = listing.configs.size();
  document["pruned"] = json_pruned(listing.pruned);
  if (budgets != nullptr) {
    document["budget"] = Json::array();
    for (const LoopBudget& budget : *budgets) document["budget"].push_back(json_budget(budget));
  }
  return json_text(document);
}

std::string plan_json(const RunPlan& plan) {
  Json document = json_document();
  document["dry_run"] = true;
  document["device_spec"] = plan.device_spec;
  document["device"] = json_device(plan.device);
  document["database"] = plan.database;
  document["budget_s"] = plan.budget_s > 0 ? json_number(plan.budget_s) : Json(nullptr);
  document["shapes"] = Json::array();
  for (const PlannedShape& shape : plan.shapes) {
    document["shapes"].push_back({{"problem", json_problem(shape.problem)},
                                  {"default_config", json_config(shape.default_config)},
                                  {"configs", shape.configs},
                                  {"pruned", json_pruned(shape.pruned)},
                                  {"tuned_before", shape.tuned_before}});
  }
  return json_text(document);
}

std::string run_json(const RunDocument& run) {
  const bool relative = run.device.relative_times;
  Json document = json_document();
  document["command"] = run.command_line;
  document["status"] = run.status;
  document["device_spec"] = run.device_specs.front();
  document["device_specs"] = run.device_specs;
  document["device"] = json_device(run.device);
  document["database"] = run.database;
  document["shapes"] = Json::array();
  std::vector<db::WinnerRecord> winners;
  for (const tuner::ShapeResult& shape : run.result->shapes) {
    Json entry = {{"status", status_text(shape.status)}, {"text", shape.text}};
    if (shape.answered()) {
      winners.push_back(shape.winner);
      entry.update(json_winner(shape.winner, relative));
    } else {
      entry["problem"] = json_problem(shape.problem);
    }
    document["shapes"].push_back(std::move(entry));
  }
  document["summary"] = json_summary(summarize(winners));
  document["samples_measured"] = run.result->samples_measured;
  document["samples_reused"] = run.result->samples_reused;
  const tuner::CrossingCounts& crossing = run.result->crossing;
  document["crossing"] = {
      {"planned", crossing.planned}, {"held", crossing.held}, {"lost", crossing.lost}};
  document["unknown_length"] = Json::array();
  for (const tuner::RobustPlan& plan : run.result->robust) {
    document["unknown_length"].push_back({{"problem", json_problem(plan.winner.problem)},
                                          {"config", json_config(plan.winner.config)},
                                          {"worst_regret", json_number(plan.worst_regret)},
                                          {"worst_gain", json_number(plan.winner.gain_low)},
                                          {"best_gain", json_number(plan.winner.gain_high)}});
  }
  document["elapsed_s"] = json_number(run.result->elapsed_s);
  document["device_s"] = {{"select", json_number(run.result->device.select_s)},
                          {"admit", json_number(run.result->device.admit_s)},
                          {"sample", json_number(run.result->device.sample_s)}};
  document["refine"] = {{"tuned", run.result->refine.tuned}, {"left", run.result->refine.left}};
  return json_text(document);
}

std::string lookup_json(const std::vector<LookupView>& views, bool explain) {
  Json list = Json::array();
  for (const LookupView& view : views) {
    Json entry = json_answer(view);
    if (views.size() > 1) entry["problem"] = json_problem(view.problem);
    if (explain) entry["explain"] = json_explanation(view);
    list.push_back(std::move(entry));
  }
  if (views.size() == 1) return json_text(list[0]);
  Json document = json_document();
  document["lookups"] = std::move(list);
  return json_text(document);
}

std::string comparison_json(const std::vector<Comparison>& comparisons) {
  Json document = json_document();
  document["comparisons"] = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json legs = Json::array();
    for (const CompareLeg& leg : comparison.legs) {
      Json entry = {{"role", leg.role},
                    {"config", json_config(leg.config)},
                    {"outcome", std::string(name(leg.outcome.kind))},
                    {"text", leg.outcome.text},
                    {comparison.relative_times ? "relative" : "time_us", json_number(leg.time_us)},
                    {"low", json_number(leg.low_us)},
                    {"high", json_number(leg.high_us)}};
      if (leg.role == "candidate") {
        entry.update(Json{{"verdict", verdict_text(leg.decision.state)},
                          {"gain", json_number(leg.decision.gain)},
                          {"gain_low", json_number(leg.decision.gain_low)},
                          {"gain_high", json_number(leg.decision.gain_high)},
                          {"rounds", leg.decision.rounds},
                          {"wins", leg.decision.wins},
                          {"losses", leg.decision.losses},
                          {"p_value", json_number(leg.decision.p_value)}});
      }
      legs.push_back(std::move(entry));
    }
    document["comparisons"].push_back({{"problem", json_problem(comparison.problem)},
                                       {"placebo_noise", json_number(comparison.placebo_noise)},
                                       {"legs", std::move(legs)}});
  }
  return json_text(document);
}

}  // namespace mla::tools

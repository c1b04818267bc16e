// SPDX-License-Identifier: MIT
#include "tools/json_values.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tools/environment_fields.h"

namespace mla::tools {

Json json_document() {
  return {{"schema_version", kJsonSchemaVersion}};
}

Json json_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json json_time_us(double time_us, bool relative) {
  if (relative || !(time_us > 0)) return nullptr;
  return json_number(time_us);
}

Json json_config(const KernelConfig& config) {
  Json object = Json::object();
  for (const Knob knob : kKnobs) {
    const int32_t value = get(config, knob);
    if (is_left_out(knob, value)) continue;
    const std::string key(name(knob));
    if (is_named(knob)) {
      object[key] = value_text(knob, value);
    } else {
      object[key] = value;
    }
  }
  return object;
}

Json json_problem(const Problem& p) {
  return {{"batch", p.batch},
          {"nhead", p.nhead},
          {"seq_len", p.seq_len},
          {"q_len", p.q_len},
          {"kv_dtype", std::string(name(p.kv_dtype))},
          {"page_size", p.page_size},
          {"shared_prefix", p.shared_prefix},
          {"share_group", p.share_group},
          {"imbalance", p.imbalance},
          {"pool", std::string(name(p.pool))}};
}

Json json_device(const DeviceInfo& d) {
  return {{"name", d.name},
          {"arch", d.arch},
          {"partition", d.partition},
          {"pci_id", d.pci_id},
          {"compute_units", d.compute_units},
          {"xcds", d.xcds},
          {"memory_bytes", d.memory_bytes},
          {"local_memory_bytes", d.local_memory_bytes},
          {"last_level_cache_bytes", d.last_level_cache_bytes},
          {"relative_times", d.relative_times}};
}

Json json_environment(const db::Environment& e) {
  Json object;
  for (const EnvironmentField& field : kEnvironmentFields) object[field.key] = e.*field.member;
  return object;
}

Json json_winner(const db::WinnerRecord& w, bool relative) {
  Json object = {{"problem", json_problem(w.problem)},
                 {"config", json_config(w.config)},
                 {"verdict", std::string(db::name(w.verdict))},
                 {"gain", json_number(w.gain)},
                 {"gain_low", json_number(w.gain_low)},
                 {"gain_high", json_number(w.gain_high)},
                 {"reference", w.reference},
                 {"default_us", json_time_us(w.default_us, relative)},
                 {"expected_us", json_time_us(w.expected_us, relative)}};
  if (relative) {
    object["default_relative"] = json_number(w.default_us);
    object["expected_relative"] = json_number(w.expected_us);
  }
  object.update(Json{{"default_config", json_config(w.default_config)},
                     {"finalist", json_config(w.finalist)},
                     {"finalist_gain", json_number(w.finalist_gain)},
                     {"drained_gain", json_number(w.drained_gain)},
                     {"rounds", w.rounds},
                     {"wins", w.wins},
                     {"losses", w.losses},
                     {"p_value", json_number(w.p_value)},
                     {"placebo_noise", json_number(w.placebo_noise)},
                     {"workspace_bytes", w.workspace_bytes},
                     {"status", std::string(db::name(w.status))},
                     {"configs_measured", w.configs_measured},
                     {"configs_pruned", w.configs_pruned},
                     {"configs_failed", w.configs_failed}});
  return object;
}

Json json_summary(const ResultSummary& s) {
  return {{"shapes", s.shapes},
          {"geomean_gain", json_number(s.geomean_gain)},
          {"best_gain", json_number(s.best_gain)},
          {"worst_gain", json_number(s.worst_gain)},
          {"faster", s.faster},
          {"default_best", s.default_best},
          {"undecided", s.undecided},
          {"slower", s.slower},
          {"failed", s.failed},
          {"placebo_noise", json_number(s.placebo_noise)}};
}

std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// The document of `bench --preset roof`.
#include <nlohmann/json.hpp>

#include "tools/json_values.h"
#include "tools/roof.h"

namespace mla::tools {
namespace {

Json json_row(const RoofRow& row) {
  Json object = {{"problem", json_problem(row.shape.problem)},
                 {"config", json_config(row.config.config)},
                 {"config_origin", row.config.origin},
                 {"outcome", std::string(name(row.outcome.kind))},
                 {"text", row.outcome.text},
                 {"floor_us", json_number(row.floor.time_us)},
                 {"bound", row.floor.bound},
                 {"goal", json_number(row.shape.goal)},
                 {"goal_base", row.shape.base == RoofBase::kFloor ? "floor" : "copy_only"},
                 {"met", row.met()}};
  if (!row.outcome.ok()) return object;
  object.update(Json{{"rounds", row.rounds},
                     {"time_us", json_number(row.time_us)},
                     {"copy_only_us", json_number(row.copy_only_us)},
                     {"copy_only_config", json_config(row.copy_only_config)},
                     {"x_copy_only", json_number(row.x_copy_only.median)},
                     {"x_copy_only_low", json_number(row.x_copy_only.low)},
                     {"x_copy_only_high", json_number(row.x_copy_only.high)},
                     {"x_floor", json_number(row.x_floor)}});
  return object;
}

}  // namespace

std::string roof_json(const RoofBench& bench) {
  Json document = json_document();
  document["device"] = json_device(bench.device);
  document["rates"] = {{"read_gb_s", json_number(bench.rates.read_gb_s)},
                       {"l2_read_gb_s", json_number(bench.rates.l2_read_gb_s)},
                       {"empty_graph_us", json_number(bench.rates.empty_graph_us)}};
  document["rows"] = Json::array();
  for (const RoofRow& row : bench.rows) document["rows"].push_back(json_row(row));
  return json_text(document);
}

}  // namespace mla::tools

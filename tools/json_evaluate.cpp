// SPDX-License-Identifier: MIT
// The document of `evaluate`.
#include <nlohmann/json.hpp>

#include "tools/evaluate.h"
#include "tools/json_values.h"

namespace mla::tools {

std::string evaluation_json(const std::vector<EvaluatedShape>& shapes, const DeviceInfo& device) {
  const bool relative = device.relative_times;
  const EvaluationSummary summary = summarize(shapes);
  Json document = json_document();
  document["device"] = json_device(device);
  Json by_source = Json::object();
  for (int source = 0; source < policy::kSourceCount; ++source) {
    by_source[policy::kSourceNames[source]] = summary.by_source[source];
  }
  document["summary"] = {{"shapes", summary.shapes},
                         {"failed", summary.failed},
                         {"slower", summary.slower},
                         {"median_regret", json_number(summary.median_regret)},
                         {"p95_regret", json_number(summary.p95_regret)},
                         {"worst_regret", json_number(summary.worst_regret)},
                         {"geomean_gain", json_number(summary.geomean_gain)},
                         {"by_source", std::move(by_source)}};
  document["shapes"] = Json::array();
  for (const EvaluatedShape& shape : shapes) {
    Json entry = {{"problem", json_problem(shape.problem)},
                  {"source", std::string(policy::name(shape.answer.source))},
                  {"reason", std::string(shape.answer.reason)},
                  {"config", json_config(shape.answer.config)},
                  {"configs", shape.configs},
                  {"failure", shape.failure}};
    if (shape.failure.empty()) {
      entry.update(Json{{"best", json_config(shape.best)},
                        {"answer_us", json_time_us(shape.answer_us, relative)},
                        {"best_us", json_time_us(shape.best_us, relative)},
                        {"default_us", json_time_us(shape.default_us, relative)},
                        {"regret", json_number(shape.regret)},
                        {"gain", json_number(shape.gain)},
                        {"slower_p", json_number(shape.slower_p)}});
    }
    document["shapes"].push_back(std::move(entry));
  }
  return json_text(document);
}

}  // namespace mla::tools

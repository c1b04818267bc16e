// SPDX-License-Identifier: MIT
// The document of `doctor`.
#include <nlohmann/json.hpp>

#include "tools/doctor/finding.h"
#include "tools/json_values.h"

namespace mla::tools {

std::string doctor_json(const Findings& findings) {
  Json document = json_document();
  document["findings"] = Json::array();
  for (const Finding& finding : findings) {
    Json entry = {{"section", finding.section},
                  {"name", finding.name},
                  {"state", name(finding.health)},
                  {"value", finding.value}};
    if (!finding.advice.empty()) entry["advice"] = finding.advice;
    if (!finding.origin.empty()) entry["origin"] = finding.origin;
    document["findings"].push_back(std::move(entry));
  }
  return json_text(document);
}

}  // namespace mla::tools

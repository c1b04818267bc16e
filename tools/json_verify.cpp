// SPDX-License-Identifier: MIT
// The document of `verify`.
#include <nlohmann/json.hpp>

#include "tools/json_values.h"
#include "tools/verify.h"

namespace mla::tools {

std::string verify_json(const std::vector<VerifiedWinner>& winners,
                        const DeviceInfo& device,
                        const std::string& database) {
  Json document = json_document();
  document["device"] = json_device(device);
  document["database"] = database;
  document["winners"] = Json::array();
  for (const VerifiedWinner& verified : winners) {
    const db::WinnerRecord& winner = verified.stored.summary.winner;
    Json entry = {{"problem", json_problem(winner.problem)},
                  {"config", json_config(winner.config)},
                  {"database", verified.stored.database},
                  {"stale", verified.stored.stale},
                  {"impossible", verified.stored.impossible},
                  {"state", std::string(name(verified.state))},
                  {"text", verified.text},
                  {"stored_gain", json_number(winner.gain)}};
    if (!verified.comparison.legs.empty()) {
      const tuner::GuardDecision& d = verified.comparison.legs[1].decision;
      entry.update(Json{{"gain", json_number(d.gain)},
                        {"gain_low", json_number(d.gain_low)},
                        {"gain_high", json_number(d.gain_high)},
                        {"rounds", d.rounds},
                        {"wins", d.wins},
                        {"losses", d.losses},
                        {"placebo_noise", json_number(verified.comparison.placebo_noise)}});
    }
    document["winners"].push_back(std::move(entry));
  }
  return json_text(document);
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
#include "tools/matched_shapes.h"

#include <fmt/format.h>

#include <map>

#include "tools/term.h"

namespace mla::tools {
namespace {

std::string answer_text(const db::WinnerRecord& winner) {
  std::string text(name(winner.verdict));
  if (winner.status != db::WinnerStatus::kActive) text += fmt::format(" ({})", name(winner.status));
  if (winner.gain != 0) text += fmt::format(" {}", percent_text(winner.gain));
  return text +
         fmt::format(", {} of {} rounds: {}", winner.wins, winner.rounds, to_text(winner.config));
}

bool same_answer(const db::WinnerRecord& a, const db::WinnerRecord& b) {
  return a.config == b.config && a.verdict == b.verdict && a.status == b.status &&
         a.gain == b.gain && a.rounds == b.rounds && a.wins == b.wins;
}

}  // namespace

ShapeId shape_id(const db::TuningSummary& summary) {
  return {device_key(summary.device), to_text(summary.winner.problem)};
}

std::vector<ShapePair> matched_shapes(const db::Store& before, const db::Store& after) {
  std::map<ShapeId, ShapePair> pairs;
  for (const db::TuningSummary& summary : before.summaries())
    pairs[shape_id(summary)].before = summary;
  for (const db::TuningSummary& summary : after.summaries())
    pairs[shape_id(summary)].after = summary;
  std::vector<ShapePair> list;
  for (auto& [id, pair] : pairs) list.push_back(std::move(pair));
  return list;
}

std::vector<Difference> differences(const db::Store& before, const db::Store& after) {
  std::vector<Difference> list;
  for (const auto& [old, fresh] : matched_shapes(before, after)) {
    if (old && fresh && same_answer(old->winner, fresh->winner)) continue;
    const db::TuningSummary& any = fresh ? *fresh : *old;
    list.push_back({device_key(any.device),
                    any.winner.problem,
                    old ? answer_text(old->winner) : "",
                    fresh ? answer_text(fresh->winner) : ""});
  }
  return list;
}

std::string differences_text(const std::vector<Difference>& differences) {
  std::string text;
  for (const Difference& difference : differences) {
    text += fmt::format("{}  {}\n", difference.device_key, to_text(difference.problem));
    if (!difference.before.empty()) text += "  - " + difference.before + "\n";
    if (!difference.after.empty()) text += "  + " + difference.after + "\n";
  }
  return text + fmt::format("{} shapes differ\n", differences.size());
}

}  // namespace mla::tools

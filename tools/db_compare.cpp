// SPDX-License-Identifier: MIT
#include "tools/db_compare.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "kernels/error.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

// Sorted by device and shape, so that listings are.
using ShapeId = std::pair<std::string, std::string>;  // device_key, to_text(problem)

std::string answer_text(const db::WinnerRecord& winner) {
  std::string text(name(winner.verdict));
  if (winner.status != db::WinnerStatus::kActive) text += fmt::format(" ({})", name(winner.status));
  if (winner.gain != 0) text += fmt::format(" {}", percent_text(winner.gain));
  return text +
         fmt::format(", {} of {} rounds: {}", winner.wins, winner.rounds, to_text(winner.config));
}

std::map<ShapeId, db::WinnerRecord> winners_of(const db::Store& store) {
  std::map<ShapeId, db::WinnerRecord> winners;
  for (const db::TuningSummary& summary : store.summaries()) {
    winners.emplace(ShapeId(device_key(summary.device), to_text(summary.winner.problem)),
                    summary.winner);
  }
  return winners;
}

bool same_answer(const db::WinnerRecord& a, const db::WinnerRecord& b) {
  return a.config == b.config && a.verdict == b.verdict && a.status == b.status &&
         a.gain == b.gain && a.rounds == b.rounds && a.wins == b.wins;
}

}  // namespace

Overlay overlay(const std::vector<std::string>& paths) {
  Overlay result;
  result.paths = paths;
  result.shapes.resize(paths.size());
  result.answers.resize(paths.size());
  std::map<ShapeId, OverlaidShape> shapes;
  for (size_t file = 0; file < paths.size(); ++file) {
    try {
      const db::Store store = db::Store::open(paths[file], db::OpenMode::kReadOnly);
      for (const auto& [id, winner] : winners_of(store)) {
        ++result.shapes[file];
        const auto [shape, fresh] =
            shapes.try_emplace(id, OverlaidShape{id.first, winner.problem, file, 0});
        if (fresh) continue;
        shape->second.file = file;
        ++shape->second.hidden;
      }
    } catch (const Error& error) {
      result.warnings.emplace_back(error.what());
    }
  }
  for (const auto& [id, shape] : shapes) {
    ++result.answers[shape.file];
    result.all.push_back(shape);
  }
  return result;
}

std::string overlay_text(const Overlay& overlay, bool every_shape, const Terminal& terminal) {
  Table files;
  files.column("file", Table::Align::kRight);
  files.column("shapes", Table::Align::kRight);
  files.column("answers", Table::Align::kRight);
  files.column("path (later files win)");
  for (size_t i = 0; i < overlay.paths.size(); ++i) {
    files.row({std::to_string(i),
               count_text(overlay.shapes[i]),
               count_text(overlay.answers[i]),
               overlay.paths[i]});
  }
  std::string text = files.text(terminal);
  if (!every_shape) return text;
  Table shapes;
  shapes.column("device");
  shapes.column("file", Table::Align::kRight);
  shapes.column("hides", Table::Align::kRight);
  shapes.column("shape");
  for (const OverlaidShape& shape : overlay.all) {
    shapes.row({shape.device_key,
                std::to_string(shape.file),
                std::to_string(shape.hidden),
                to_text(shape.problem)});
  }
  return text + "\n" + shapes.text(terminal);
}

std::vector<Difference> differences(const db::Store& before, const db::Store& after) {
  const std::map<ShapeId, db::WinnerRecord> old = winners_of(before);
  const std::map<ShapeId, db::WinnerRecord> fresh = winners_of(after);
  std::map<ShapeId, Difference> changed;
  for (const auto& [id, winner] : old) {
    const auto now = fresh.find(id);
    if (now != fresh.end() && same_answer(winner, now->second)) continue;
    changed[id] = {id.first,
                   winner.problem,
                   answer_text(winner),
                   now == fresh.end() ? "" : answer_text(now->second)};
  }
  for (const auto& [id, winner] : fresh) {
    if (old.count(id) == 0) changed[id] = {id.first, winner.problem, "", answer_text(winner)};
  }
  std::vector<Difference> list;
  for (auto& [id, difference] : changed) list.push_back(std::move(difference));
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

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

ShapeId id_of(const db::TuningSummary& summary) {
  return {device_key(summary.device), to_text(summary.winner.problem)};
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
      for (const db::TuningSummary& summary : store.summaries()) {
        ++result.shapes[file];
        const ShapeId id = id_of(summary);
        const auto [shape, fresh] =
            shapes.try_emplace(id, OverlaidShape{id.first, summary.winner.problem, file, 0});
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

std::vector<ShapePair> matched_shapes(const db::Store& before, const db::Store& after) {
  std::map<ShapeId, ShapePair> pairs;
  for (const db::TuningSummary& summary : before.summaries())
    pairs[id_of(summary)].before = summary;
  for (const db::TuningSummary& summary : after.summaries()) pairs[id_of(summary)].after = summary;
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

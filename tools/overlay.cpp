// SPDX-License-Identifier: MIT
#include "tools/overlay.h"

#include <fmt/format.h>

#include <map>

#include "db/store.h"
#include "kernels/error.h"
#include "tools/matched_shapes.h"
#include "tools/term.h"

namespace mla::tools {
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
        const ShapeId id = shape_id(summary);
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

}  // namespace mla::tools

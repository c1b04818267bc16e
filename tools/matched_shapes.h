// SPDX-License-Identifier: MIT
// The shapes of two databases side by side, and what `db diff` lists of them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/store.h"

namespace mla::tools {

// Of a shape on one kind of device; sorted by device and shape, so that listings are.
using ShapeId = std::pair<std::string, std::string>;  // device_key, to_text(problem)
ShapeId shape_id(const db::TuningSummary& summary);

// The current rows of one shape of one kind of device in two databases; at least one is there.
struct ShapePair {
  std::optional<db::TuningSummary> before, after;
};
// By device and shape.
std::vector<ShapePair> matched_shapes(const db::Store& before, const db::Store& after);

struct Difference {
  std::string device_key;
  Problem problem;
  std::string before, after;  // verdict, gain and knobs; empty: not there
};

// Current winners that differ in what is answered or how well it did.
std::vector<Difference> differences(const db::Store& before, const db::Store& after);
std::string differences_text(const std::vector<Difference>& differences);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Several databases beside each other: which of them answers a shape, and what changed between two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "tools/term.h"

namespace mla::tools {

// One tuned shape of one kind of device in a list of databases, of which later ones win.
struct OverlaidShape {
  std::string device_key;
  Problem problem;
  size_t file = 0;     // that answers, an index into the list
  int64_t hidden = 0;  // files before it that hold the shape too
};

struct Overlay {
  std::vector<std::string> paths;
  std::vector<int64_t> shapes;   // that each file holds
  std::vector<int64_t> answers;  // that it answers
  std::vector<OverlaidShape> all;
  std::vector<std::string> warnings;  // files that cannot be used
};

// By the rule of the lookup (policy/lookup.h): the last file that holds a shape answers it, also
// with "keep the default" or a demotion.
Overlay overlay(const std::vector<std::string>& paths);
std::string overlay_text(const Overlay& overlay, bool every_shape, const Terminal& terminal);

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

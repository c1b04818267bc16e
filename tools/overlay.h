// SPDX-License-Identifier: MIT
// Several databases in a list: which of them answers a shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/problem.h"
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

}  // namespace mla::tools

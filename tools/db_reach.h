// SPDX-License-Identifier: MIT
// Which rows of a database answer on a device, and what keeps the others from it. The software of
// the rows is not compared: `verify --stale` does, on the device itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/store.h"
#include "kernels/space.h"
#include "tools/term.h"

namespace mla::tools {

// A field in which a stored device differs from the one that asks.
struct FieldDifference {
  std::string stored_device;  // name and hard fields
  std::string field;
  std::string expected, found;  // here, and in the rows
  bool hard = false;            // rejects the rows; else they answer and are to be verified again
  int64_t rows = 0;
};

struct UnreachableRow {
  Problem problem;
  std::string stored_device;
  std::string reason;
};

struct Reach {
  std::string device;  // that asks: name and hard fields
  int64_t answers = 0;
  int64_t verify_again = 0;  // among `answers`
  std::vector<FieldDifference> differences;
  std::vector<UnreachableRow> unreachable;
};

Reach reach(const db::Store& store, const Space& space);

// The table of differences, the rows (all or the first of them), and the counts.
std::string reach_text(const Reach& reach, bool every_row, const Terminal& terminal);

}  // namespace mla::tools

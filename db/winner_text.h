// SPDX-License-Identifier: MIT
// The current winners of a database as text that people review and version control diffs: one line
// a winner with its evidence, the losses at its shape below it. Numbers are written so that they
// are read back exactly, so that exporting what was imported gives the same text.
//
//   # mla-tune winners 1
//   device 1 name="MI355X" arch="gfx950" ... | environment 1 ... | run 1 ...     columns of
//   FORMAT.md winner device=1 environment=1 run=1 protocol="..." seed=7 problem="batch=8 ..."
//   config="..."
//     default="..." finalist="..." verdict="faster" gain=0.041 ...                  (on one line)
//   loss config="..." loss=0.01 ...
//
// Rounds and samples stay in the database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db/store.h"

namespace mla::db {

std::string export_winners(const Store& store);

struct Imported {
  int64_t added = 0;
  int64_t unchanged = 0;  // the database held them already
};

// Adds the winners of `text` to the database at `path` (created where it is missing) in one
// transaction; they become the current ones of their shapes. `name` stands for the text in errors.
// Throws Error(kUsage) naming the line that cannot be read or believed, and nothing is added.
Imported import_winners(std::string_view text, const std::string& name, const std::string& path);

}  // namespace mla::db

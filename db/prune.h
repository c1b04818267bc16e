// SPDX-License-Identifier: MIT
// The one function that removes evidence, at a person's request.
#pragma once

#include <cstdint>
#include <string>

namespace mla::db {

struct Pruned {
  int64_t tunings = 0, winners = 0, rounds = 0, samples = 0;  // removed, or that would be
  int64_t bytes_before = 0, bytes_after = 0;
};

// Removes what no current answer rests on: finished tunings whose winner was superseded, with their
// rounds, samples, outcomes and losses, older winners of the others, and rows that nothing points
// to any more; then compacts the file. Unfinished tunings stay, so that a run can go on. With
// `dry_run` nothing changes.
Pruned prune(const std::string& path, bool dry_run);

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// Which part of the shapes this process tunes where several share them across hosts, and the
// database of its own that it writes, since locks on a network file system are not to be relied on.
#pragma once

#include <string>
#include <vector>

#include "kernels/problem.h"
#include "tools/options.h"

namespace mla::tools {

struct ChosenShard {
  Shard shard;
  std::string variable;  // of the environment that named the rank; empty: none did
};

// --shard where given, else the rank that MPI or Slurm gave this process, else everything. Throws
// Error(kUsage) naming a variable that holds no rank.
ChosenShard chosen_shard(const Options& options);

// The shapes of one shard, in their order.
std::vector<Problem> part_of(const std::vector<Problem>& problems, const Shard& shard);

// "dir/tuning.db" of shard 1/4 is "dir/tuning.1-of-4.db"; of everything the path as it is.
std::string shard_database(const std::string& path, const Shard& shard);

// One line for the log of a job: "shard 1/4 (SLURM_PROCID): 3 of 12 shapes, into tuning.1-of-4.db".
std::string shard_text(const ChosenShard& chosen,
                       size_t shapes,
                       size_t all_shapes,
                       const std::string& database);

}  // namespace mla::tools

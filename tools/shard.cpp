// SPDX-License-Identifier: MIT
#include "tools/shard.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "kernels/error.h"

namespace mla::tools {
namespace {

struct RankVariables {
  const char* rank;
  const char* size;
};
// Open MPI; MPICH and Intel MPI; Slurm. An mpirun within a Slurm job starts its daemons as Slurm
// tasks, so its own variables come first. A batch script has the task count of the whole job but is
// no step: its step variables are missing, and a run in it that is to do everything says so.
constexpr RankVariables kRankVariables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                            {"PMI_RANK", "PMI_SIZE"},
                                            {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                            {"SLURM_PROCID", "SLURM_NTASKS"}};

Shard shard_of(const RankVariables& variables, const char* rank, const char* size) {
  try {
    return parse_shard(fmt::format("{}/{}", rank, size));
  } catch (const Error& error) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{}={} {}={}: {}; --shard 0/1 tunes everything",
                            variables.rank,
                            rank,
                            variables.size,
                            size,
                            error.what()));
  }
}

}  // namespace

ChosenShard chosen_shard(const Options& options) {
  if (options.shard) return {*options.shard, ""};
  for (const RankVariables& variables : kRankVariables) {
    const char* rank = std::getenv(variables.rank);
    const char* size = std::getenv(variables.size);
    if (rank != nullptr && size != nullptr)
      return {shard_of(variables, rank, size), variables.rank};
  }
  return {};
}

std::vector<Problem> part_of(const std::vector<Problem>& problems, const Shard& shard) {
  std::vector<Problem> part;
  for (auto i = static_cast<size_t>(shard.index); i < problems.size();
       i += static_cast<size_t>(shard.count)) {
    part.push_back(problems[i]);
  }
  return part;
}

std::string shard_database(const std::string& path, const Shard& shard) {
  if (shard.count == 1) return path;
  const std::filesystem::path whole(path);
  std::filesystem::path own = whole.parent_path() / whole.stem();
  own += fmt::format(".{}-of-{}", shard.index, shard.count);
  own += whole.extension();
  return own.string();
}

std::string shard_text(const ChosenShard& chosen,
                       size_t shapes,
                       size_t all_shapes,
                       const std::string& database) {
  return fmt::format("shard {}/{}{}: {} of {} shapes, into {}",
                     chosen.shard.index,
                     chosen.shard.count,
                     chosen.variable.empty() ? "" : fmt::format(" ({})", chosen.variable),
                     shapes,
                     all_shapes,
                     database);
}

}  // namespace mla::tools

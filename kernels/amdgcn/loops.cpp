// SPDX-License-Identifier: MIT
#include "kernels/amdgcn/loops.h"

#include <algorithm>
#include <map>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::amdgcn {

std::vector<Loop> find_loops(const std::vector<Instruction>& instructions) {
  std::map<uint64_t, size_t> index_of;
  for (size_t i = 0; i < instructions.size(); ++i) index_of[instructions[i].address] = i;
  std::map<size_t, Loop> by_begin;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& branch = instructions[i];
    if (!branch.branch_target || *branch.branch_target > branch.address) continue;
    const auto target = index_of.find(*branch.branch_target);
    if (target == index_of.end()) {
      throw Error(ErrorCode::kUsage, "branch out of the kernel: " + in_quotes(branch.text));
    }
    Loop& loop = by_begin[target->second];
    loop.begin = target->second;
    loop.end = std::max(loop.end, i + 1);
  }
  std::vector<Loop> loops;
  for (const auto& [begin, loop] : by_begin) loops.push_back(loop);
  return loops;
}

size_t count(const std::vector<Instruction>& instructions,
             const Loop& loop,
             std::string_view prefix) {
  const auto first = instructions.begin() + static_cast<ptrdiff_t>(loop.begin);
  return static_cast<size_t>(
      std::count_if(first, first + static_cast<ptrdiff_t>(loop.size()), [&](const Instruction& i) {
        return starts_with(i.mnemonic, prefix);
      }));
}

std::vector<Loop> innermost_loops_with(const std::vector<Instruction>& instructions,
                                       std::string_view prefix) {
  std::vector<Loop> holding;
  for (const Loop& loop : find_loops(instructions)) {
    if (count(instructions, loop, prefix) > 0) holding.push_back(loop);
  }
  std::vector<Loop> innermost;
  for (const Loop& outer : holding) {
    const bool has_inner = std::any_of(holding.begin(), holding.end(), [&](const Loop& inner) {
      return inner.begin >= outer.begin && inner.end <= outer.end && inner.size() < outer.size();
    });
    if (!has_inner) innermost.push_back(outer);
  }
  return innermost;
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
// Between the structs of the C ABI and the types behind it. Inline, as a plan runs them in every
// decode step.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device_info.h"
#include "kernels/problem.h"
#include "kernels/space.h"
#include "policy/lookup.h"
#include "policy/mla_policy.h"

namespace mla::policy {

static_assert(kSourceCount == MLA_SOURCE_COUNT);
static_assert(sizeof(mla_device_desc) == 40 && sizeof(mla_shape) == 56 && sizeof(mla_plan) == 96);

// False where the description cannot be used.
inline bool read_device(const mla_device_desc* desc, DeviceInfo* device) {
  if (desc == nullptr || desc->struct_size < sizeof(mla_device_desc)) return false;
  if (desc->arch == nullptr || desc->arch[0] == '\0') return false;
  if (desc->compute_units < 1 || desc->xcds < 0 || desc->group_rows < 0) return false;
  if (desc->local_memory_bytes < 0) return false;
  device->arch = desc->arch;
  device->partition = desc->partition == nullptr ? "" : desc->partition;
  device->compute_units = desc->compute_units;
  device->xcds = std::max(1, desc->xcds);
  if (desc->group_rows > 0) device->group_rows = desc->group_rows;
  device->local_memory_bytes = desc->local_memory_bytes;
  return true;
}

// A shape that cannot be read becomes a problem that no range check passes.
inline Problem read_shape(const mla_shape* shape) noexcept {
  Problem problem;
  if (shape == nullptr || shape->struct_size < sizeof(mla_shape)) {
    problem.batch = 0;
    return problem;
  }
  problem.batch = shape->batch;
  problem.nhead = shape->nhead;
  problem.seq_len = shape->seq_len;
  problem.q_len = shape->q_len;
  problem.kv_dtype = static_cast<KvDtype>(shape->kv_dtype);
  problem.page_size = shape->page_size;
  problem.shared_prefix = shape->shared_prefix;
  problem.share_group = shape->share_group;
  problem.imbalance = shape->imbalance;
  problem.pool = static_cast<PoolClass>(shape->large_pool);
  return problem;
}

inline void write_plan(const Problem& problem, const Answer& answer, mla_plan* plan) noexcept {
  const KernelConfig& config = answer.config;
  plan->splits = config.splits;
  plan->tile_n = config.tile_n;
  plan->stages = config.stages;
  plan->wait = static_cast<int32_t>(config.wait);
  plan->order = static_cast<int32_t>(config.order);
  plan->stage1_warps = config.stage1_warps;
  plan->stage2_tiles = config.stage2_tiles;
  plan->stage2_warps = config.stage2_warps;
  plan->source = static_cast<int32_t>(answer.source);
  plan->database = answer.database_index;
  plan->gain = answer.gain;
  plan->expected_us = answer.expected_us;
  plan->schedule = static_cast<int32_t>(config.schedule);
  plan->source_name = kSourceNames[plan->source];
  plan->reason = answer.reason;
  plan->workspace_bytes =
      mla::workspace_bytes(problem.batch, problem.q_len, problem.nhead, config.splits);
  plan->winner_id = answer.winner_id;
  plan->group_rows = config.group_rows;
  plan->reserved = 0;
}

// Nothing to launch: splits 0.
inline void write_no_plan(mla_plan* plan) noexcept {
  *plan = mla_plan{};
  plan->struct_size = sizeof *plan;
  plan->source = MLA_SOURCE_DEFAULT;
  plan->database = -1;
  plan->source_name = kSourceNames[MLA_SOURCE_DEFAULT];
}

}  // namespace mla::policy

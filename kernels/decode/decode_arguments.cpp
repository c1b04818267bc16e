// SPDX-License-Identifier: MIT
#include "kernels/decode/decode_arguments.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/error.h"
#include "kernels/row_group.h"

namespace mla {
namespace {

constexpr int64_t kWorkspaceAlignment = 64;
// Of the struct's first form, without the fields that were appended since.
constexpr size_t kLeastTensorsBytes = offsetof(mla_tensors, kv_rows);

// Texts are composed only on the way out: a launch that is fine allocates nothing.
[[noreturn]] void fail(const char* field, const std::string& why) {
  throw Error(ErrorCode::kUsage, std::string(field) + ": " + why);
}

void require_range(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  fail(field,
       std::to_string(value) + " is not in " + std::to_string(low) + ".." + std::to_string(high));
}

void require_pointer(const char* field, const void* pointer, int64_t alignment) {
  if (pointer == nullptr) fail(field, "is null");
  if (reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) != 0) {
    fail(field, "is not aligned to " + std::to_string(alignment) + " bytes");
  }
}

void require_stride(const char* field, int64_t stride, int64_t least, int64_t multiple) {
  if (stride < least)
    fail(field, std::to_string(stride) + " is less than " + std::to_string(least));
  if (stride % multiple != 0) fail(field, "is not a multiple of " + std::to_string(multiple));
}

Problem read_problem(const mla_tensors& t) {
  require_range("batch", t.batch, 1, kMaxBatch);
  require_range("nhead", t.nhead, 1, kMaxHeads);
  require_range("q_len", t.q_len, 1, kMaxQLen);
  require_range("max_seq_len", t.max_seq_len, 0, kMaxSeqLen);
  if (t.page_size != 1 && t.page_size != 16 && t.page_size != 64) {
    fail("page_size", std::to_string(t.page_size) + " is not one of 1, 16, 64");
  }
  require_range("kv_dtype",
                t.kv_dtype,
                static_cast<int32_t>(KvDtype::kBf16),
                static_cast<int32_t>(KvDtype::kFp8));
  if (!std::isfinite(t.softmax_scale)) fail("softmax_scale", "is not finite");
  Problem problem;
  problem.kv_dtype = static_cast<KvDtype>(t.kv_dtype);
  if (problem.kv_dtype == KvDtype::kBf16 && t.kv_scale != 1.0f) {
    fail("kv_scale", "is not 1, and bf16 rows have no scale");
  }
  if (!(std::isfinite(t.kv_scale) && t.kv_scale > 0)) fail("kv_scale", "is not above 0 and finite");
  problem.batch = t.batch;
  problem.nhead = t.nhead;
  problem.q_len = t.q_len;
  problem.page_size = t.page_size;
  problem.seq_len = t.max_seq_len == 0 ? kMaxSeqLen : t.max_seq_len;
  return problem;
}

// A plan's numbers become enumerators, so they are checked against the space as numbers first.
KernelConfig read_config(const mla_plan& plan, const Problem& problem, const Space& space) {
  const int32_t values[] = {plan.splits,
                            plan.tile_n,
                            plan.stages,
                            plan.wait,
                            plan.order,
                            plan.stage1_warps,
                            plan.stage2_tiles,
                            plan.stage2_warps,
                            plan.schedule,
                            plan.group_rows};
  static_assert(sizeof values / sizeof *values == kKnobCount);
  KernelConfig config;
  for (int i = 0; i < kKnobCount; ++i) set(&config, kKnobs[static_cast<size_t>(i)], values[i]);
  const auto violation = space.violation(problem, config);
  if (violation) fail("plan", *violation);
  return config;
}

int64_t pool_rows(const mla_tensors& t) {
  if (t.struct_size < sizeof(mla_tensors)) return 0;
  // Pages are numbered in 31 bits.
  require_range("kv_rows", t.kv_rows, 0, (int64_t{1} << 31) * t.page_size);
  return t.kv_rows;
}

DecodeParams read_params(const mla_tensors& t, KvDtype dtype, int64_t row_alignment) {
  const int64_t element_bytes = row_bytes(dtype) / kHeadDim;
  require_pointer("q", t.q, alignof(uint16_t));
  require_stride("q_head_stride", t.q_head_stride, kHeadDim, 1);
  require_stride("q_token_stride", t.q_token_stride, kHeadDim, 1);
  require_pointer("kv", t.kv, row_alignment);
  require_stride("kv_row_stride", t.kv_row_stride, kHeadDim, row_alignment / element_bytes);
  require_pointer("kv_indptr", t.kv_indptr, alignof(int32_t));
  require_pointer("kv_indices", t.kv_indices, alignof(int32_t));
  require_pointer("last_page_len", t.last_page_len, alignof(int32_t));
  require_pointer("out", t.out, row_alignment);
  if (t.lse != nullptr) require_pointer("lse", t.lse, alignof(float));

  DecodeParams params;
  params.batch = t.batch;
  params.nhead = t.nhead;
  params.q_len = t.q_len;
  params.page_size = t.page_size;
  params.kv_dtype = dtype;
  params.softmax_scale = t.softmax_scale;
  params.kv_scale = t.kv_scale;
  params.q = static_cast<const uint16_t*>(t.q);
  params.q_token_stride = t.q_token_stride;
  params.q_head_stride = t.q_head_stride;
  params.kv = t.kv;
  params.kv_row_stride = t.kv_row_stride;
  params.kv_rows = pool_rows(t);
  params.kv_indptr = t.kv_indptr;
  params.kv_indices = t.kv_indices;
  params.last_page_len = t.last_page_len;
  params.out = static_cast<uint16_t*>(t.out);
  params.lse = t.lse;
  params.workspace = t.workspace;
  return params;
}

void require_workspace(const mla_tensors& t, const KernelConfig& config) {
  const int64_t needed = workspace_bytes(t.batch, t.q_len, t.nhead, config.splits);
  if (needed == 0) return;
  require_pointer("workspace", t.workspace, kWorkspaceAlignment);
  if (t.workspace_bytes < needed) {
    fail("workspace_bytes",
         std::to_string(t.workspace_bytes) + " is less than the " + std::to_string(needed) +
             " that this plan needs");
  }
}

}  // namespace

DecodeArguments read_arguments(const mla_tensors* tensors,
                               const mla_plan* plan,
                               const Space& space,
                               int64_t row_alignment) {
  if (tensors == nullptr) fail("tensors", "is null");
  if (tensors->struct_size < kLeastTensorsBytes) fail("tensors", "struct_size is too small");
  if (plan == nullptr) fail("plan", "is null");
  if (plan->struct_size < sizeof(mla_plan)) fail("plan", "struct_size is too small");
  DecodeArguments arguments;
  const Problem problem = read_problem(*tensors);
  arguments.config = read_config(*plan, problem, space);
  arguments.params = read_params(*tensors, problem.kv_dtype, row_alignment);
  require_workspace(*tensors, arguments.config);
  // A grid counts its workgroups in 31 bits.
  require_range("workgroups",
                stage1_items(arguments.params, arguments.config),
                1,
                std::numeric_limits<int32_t>::max());
  return arguments;
}

}  // namespace mla

/* SPDX-License-Identifier: MIT
 * The C ABI from a C99 translation unit: the header compiles, and structs filled here are
 * understood.
 */
#include "tests/policy/c_abi.h"
#include "policy/mla_policy.h"

int plan_from_c(const char* const* paths, size_t path_count, mla_plan* plan) {
  mla_policy* policy = NULL;
  const mla_device_desc device = {
      .struct_size = sizeof device, .compute_units = 256, .xcds = 8, .arch = "gfx950"};
  const mla_shape shape = {.struct_size = sizeof shape,
                           .batch = 16,
                           .seq_len = 68000,
                           .share_group = 8,
                           .nhead = 12,
                           .q_len = 1,
                           .page_size = 1,
                           .imbalance = 1};
  mla_status status = mla_policy_open(paths, path_count, &device, &policy);
  plan->struct_size = sizeof *plan;
  if (policy != NULL) {
    const mla_status planned = mla_policy_plan(policy, &shape, plan);
    if (status == MLA_OK) status = planned;
  }
  mla_policy_close(policy);
  return (int)status;
}

/* SPDX-License-Identifier: MIT
 * What a serving engine in C does: open the policy of its device, plan a step. There is no database
 * here, so the default policy answers. */
#include <mla_policy.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  mla_device_desc device;
  mla_shape shape;
  mla_plan plan;
  mla_policy* policy = NULL;
  const char* const paths[] = {"no such file.db"};
  mla_status opened;
  mla_status planned;

  memset(&device, 0, sizeof device);
  device.struct_size = sizeof device;
  device.arch = "gfx950";
  device.compute_units = 256;
  device.xcds = 8;
  opened = mla_policy_open(paths, 1, &device, &policy);

  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  shape.batch = 8;
  shape.nhead = 12;
  shape.seq_len = 68000;
  shape.q_len = 1;
  shape.page_size = 1;
  shape.share_group = 8;
  shape.imbalance = 1;
  plan.struct_size = sizeof plan;
  planned = mla_policy_plan(policy, &shape, &plan);
  mla_policy_close(policy);

  printf("opened %d, planned %d: splits=%d source=%s\n",
         opened,
         planned,
         plan.splits,
         plan.source_name);
  /* 256 compute units over 8 requests of one row group each. */
  return opened == MLA_ERROR_DATABASE && planned == MLA_OK && plan.splits == 32 &&
                 plan.source == MLA_SOURCE_DEFAULT
             ? 0
             : 1;
}

/* SPDX-License-Identifier: MIT
 * Both libraries in C: the policy of the device that the decode library opened plans a step, and
 * the step is launched. One request of one row, so that the output is that row's first 512
 * elements. */
#include <mla_decode.h>
#include <mla_policy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNhead = 12, kRowWidth = 576, kValueWidth = 512, kBf16One = 0x3F80 };

static uint16_t q[kNhead * kRowWidth];
static uint16_t kv[kRowWidth];
static uint16_t out[kNhead * kValueWidth];

static void fill_tensors(mla_tensors* tensors) {
  static const int32_t indptr[] = {0, 1};
  static const int32_t indices[] = {0};
  static const int32_t last_page_len[] = {1};
  memset(tensors, 0, sizeof *tensors);
  tensors->struct_size = sizeof *tensors;
  tensors->batch = 1;
  tensors->nhead = kNhead;
  tensors->q_len = 1;
  tensors->page_size = 1;
  tensors->softmax_scale = 0.1f;
  tensors->kv_scale = 1;
  tensors->max_seq_len = 1;
  tensors->q = q;
  tensors->q_token_stride = kNhead * kRowWidth;
  tensors->q_head_stride = kRowWidth;
  tensors->kv = kv;
  tensors->kv_row_stride = kRowWidth;
  tensors->kv_rows = 1;
  tensors->kv_indptr = indptr;
  tensors->kv_indices = indices;
  tensors->last_page_len = last_page_len;
  tensors->out = out;
}

static mla_status plan_step(mla_policy* policy, const mla_tensors* tensors, mla_plan* plan) {
  mla_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_size = sizeof shape;
  shape.batch = tensors->batch;
  shape.nhead = tensors->nhead;
  shape.seq_len = tensors->max_seq_len;
  shape.q_len = tensors->q_len;
  shape.page_size = tensors->page_size;
  shape.share_group = 8;
  shape.imbalance = 1;
  plan->struct_size = sizeof *plan;
  return mla_policy_plan(policy, &shape, plan);
}

int main(void) {
  char message[256];
  mla_decode* decode = NULL;
  mla_policy* policy = NULL;
  mla_device_desc device;
  mla_tensors tensors;
  mla_plan plan;
  void* workspace = NULL;
  mla_status launched;
  int i, wrong = 0;

  if (mla_decode_open("cpu", &decode, message, sizeof message) != MLA_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  device.struct_size = sizeof device;
  mla_decode_describe(decode, &device);
  mla_policy_open(NULL, 0, &device, &policy); /* no database: the default policy */
  for (i = 0; i < kRowWidth; ++i) kv[i] = kBf16One;
  fill_tensors(&tensors);
  plan_step(policy, &tensors, &plan);
  tensors.workspace_bytes = plan.workspace_bytes;
  if (plan.workspace_bytes > 0) {
    workspace = malloc((size_t)plan.workspace_bytes + 64);
    tensors.workspace = (char*)workspace + (64 - (uintptr_t)workspace % 64);
  }
  launched = mla_decode_launch(decode, &tensors, &plan, NULL);
  for (i = 0; i < kNhead * kValueWidth; ++i) wrong += out[i] != kBf16One;
  mla_decode_message(decode, message, sizeof message);
  printf("launched %d %s: %d elements wrong\n", launched, message, wrong);
  free(workspace);
  mla_policy_close(policy);
  mla_decode_close(decode);
  return launched == MLA_OK && wrong == 0 ? 0 : 1;
}

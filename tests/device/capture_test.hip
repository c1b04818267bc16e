// SPDX-License-Identifier: MIT
// What a serving engine captures: a plan of libmla_policy and a launch of libmla_decode, on a
// stream of its own, replayed while the page tables change.
#include "kernels/decode/mla_decode.h"
#include "policy/mla_policy.h"
#include "tests/device/captured_decode.cuh"

using namespace mla;
using namespace mla::test;

namespace {

constexpr int32_t kBatch = 3, kHeads = 12;
constexpr int64_t kMostRows = 2000;

mla_shape shape_of_graph() {
  mla_shape shape{};
  shape.struct_size = sizeof shape;
  shape.batch = kBatch;
  shape.share_group = 8;
  shape.nhead = kHeads;
  shape.q_len = 1;
  shape.page_size = 1;
  shape.imbalance = 1;
  return shape;  // no length: it is not known when the graph is captured
}

mla_tensors tensors_of(const CapturedDecode& step, const Workload& workload) {
  const DecodeParams& params = step.params();
  mla_tensors tensors{};
  tensors.struct_size = sizeof tensors;
  tensors.batch = params.batch;
  tensors.nhead = params.nhead;
  tensors.q_len = params.q_len;
  tensors.page_size = params.page_size;
  tensors.softmax_scale = params.softmax_scale;
  tensors.kv_scale = 1;
  tensors.max_seq_len = kMostRows;
  tensors.q = params.q;
  tensors.q_token_stride = params.q_token_stride;
  tensors.q_head_stride = params.q_head_stride;
  tensors.kv = params.kv;
  tensors.kv_row_stride = params.kv_row_stride;
  tensors.kv_rows = workload.pool_pages() * params.page_size;
  tensors.kv_indptr = params.kv_indptr;
  tensors.kv_indices = params.kv_indices;
  tensors.last_page_len = params.last_page_len;
  tensors.out = params.out;
  tensors.lse = params.lse;
  tensors.workspace = params.workspace;
  return tensors;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_plan_and_a_launch_of_the_c_abi_are_captured_and_replayed) {
  Problem problem;
  problem.nhead = kHeads;
  const auto workload = make_workload(problem, {kMostRows, 77, 0}, {});
  mla_decode* decode = nullptr;
  mla_policy* policy = nullptr;
  mla_device_desc device{};
  device.struct_size = sizeof device;
  BOOST_REQUIRE(mla_decode_open("hip:0", &decode, nullptr, 0) == MLA_OK);
  BOOST_REQUIRE(mla_decode_describe(decode, &device) == MLA_OK);
  const char* const missing = "/nonexistent/tuning.db";
  BOOST_REQUIRE(mla_policy_open(&missing, 1, &device, &policy) == MLA_ERROR_DATABASE);

  const mla_shape shape = shape_of_graph();
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  BOOST_REQUIRE(mla_policy_plan(policy, &shape, &plan) == MLA_OK);
  KernelConfig config = test_gpu().space().neutral();
  config.splits = plan.splits;  // of the buffers alone
  CapturedDecode step(*workload, config);
  mla_tensors tensors = tensors_of(step, *workload);
  tensors.workspace_bytes = mla_decode_workspace_bytes(kBatch, 1, kHeads, plan.splits);

  hip::Graph graph;
  const Outcome captured = graph.capture(step.stream(), [&] {
    const bool planned = mla_policy_plan(policy, &shape, &plan) == MLA_OK;
    const mla_status launched = mla_decode_launch(decode, &tensors, &plan, step.stream().get());
    return planned && launched == MLA_OK ? hipSuccess : hipErrorUnknown;
  });
  BOOST_REQUIRE_MESSAGE(captured.ok(), captured.text);
  for (int replay = 0; replay < 3; ++replay) {
    step.poison();
    hip::check(graph.replay(step.stream()), "replay");
    const Outcome checked =
        check(reference_sample(workload->params(), INT64_MAX, 1), *workload, step.read());
    BOOST_TEST(checked.ok(), checked.text);
  }
  mla_policy_close(policy);
  mla_decode_close(decode);
}

// SPDX-License-Identifier: MIT
// The decode library through its C ABI, as a serving engine links it, on the CPU.
#define BOOST_TEST_MODULE decode_abi
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <functional>

#include "kernels/decode/decode_arguments.h"
#include "kernels/spaces.h"
#include "policy/mla_policy.h"
#include "tests/kernels/decode_cases.h"

using namespace mla;
using namespace mla::test;

namespace {

KernelConfig split_config(int32_t splits) {
  KernelConfig config = open_device("cpu")->space().neutral();
  config.splits = splits;
  return config;
}

// A padded batch of three over several row groups and query positions.
std::shared_ptr<const Workload> ragged_workload() {
  Problem problem;
  problem.nhead = 33;
  problem.q_len = 2;
  problem.page_size = 16;
  WorkloadOptions options;
  options.q_padding = 24;
  return make_workload(problem, {300, 0, 77}, options);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_launch_gives_the_bits_that_the_tuner_measures) {
  const auto workload = ragged_workload();
  const auto device = open_device("cpu:threads=2");
  const auto loaded = device->load(workload);
  const OpenDecode decode;
  BOOST_TEST_REQUIRE(decode.status() == MLA_OK);
  for (const char* text : {"splits=1",
                           "splits=3 tile_n=16 stages=3",
                           "splits=8 stage2_tiles=4",
                           "splits=2 order=split_major wait=drain"}) {
    const KernelConfig config = parse_config(text, device->space().neutral());
    BOOST_TEST_REQUIRE(loaded->run(config).ok());
    Tensors tensors(*workload);
    const mla_plan plan = plan_of(config);
    BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK,
               decode.message());
    BOOST_TEST((tensors.output == read(*loaded)), text);
  }
}

BOOST_AUTO_TEST_CASE(a_plan_of_the_policy_for_the_described_device_launches) {
  const auto workload = ragged_workload();
  const OpenDecode decode;
  mla_device_desc device{};
  device.struct_size = sizeof device;
  BOOST_TEST_REQUIRE(mla_decode_describe(decode.get(), &device) == MLA_OK);
  BOOST_TEST(device.compute_units == 2);
  const char* const missing = "/nonexistent/tuning.db";
  mla_policy* policy = nullptr;
  BOOST_TEST(mla_policy_open(&missing, 1, &device, &policy) == MLA_ERROR_DATABASE);
  Tensors tensors(*workload);
  mla_shape shape{};
  shape.struct_size = sizeof shape;
  shape.batch = tensors.abi.batch;
  shape.seq_len = workload->problem().seq_len;
  shape.share_group = 8;
  shape.nhead = tensors.abi.nhead;
  shape.q_len = tensors.abi.q_len;
  shape.page_size = tensors.abi.page_size;
  shape.imbalance = 1;
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  BOOST_TEST(mla_policy_plan(policy, &shape, &plan) == MLA_OK);
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK,
             decode.message());
  const Outcome checked =
      check(reference_sample(workload->params(), INT64_MAX, 1), *workload, tensors.output);
  BOOST_TEST(checked.ok(), checked.text);
  mla_policy_close(policy);
}

BOOST_AUTO_TEST_CASE(fp8_rows_are_read_with_their_scale) {
  Problem problem;
  problem.kv_dtype = KvDtype::kFp8;
  const auto workload = make_workload(problem, {90, 0, 33});
  const OpenDecode decode;
  Tensors tensors(*workload);
  const mla_plan plan = plan_of(split_config(3));
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK,
             decode.message());
  const Outcome checked =
      check(reference_sample(workload->params(), INT64_MAX, 1), *workload, tensors.output);
  BOOST_TEST(checked.ok(), checked.text);
}

BOOST_AUTO_TEST_CASE(without_an_lse_the_output_is_the_same) {
  const auto workload = ragged_workload();
  const OpenDecode decode;
  const mla_plan plan = plan_of(split_config(3));
  Tensors with(*workload), without(*workload);
  without.abi.lse = nullptr;
  BOOST_TEST(mla_decode_launch(decode.get(), &with.abi, &plan, nullptr) == MLA_OK);
  BOOST_TEST(mla_decode_launch(decode.get(), &without.abi, &plan, nullptr) == MLA_OK);
  BOOST_TEST((with.output.out == without.output.out));
}

BOOST_AUTO_TEST_CASE(every_argument_out_of_range_is_named_and_nothing_is_launched) {
  struct Case {
    const char* named;
    std::function<void(mla_tensors*, mla_plan*)> change;
  };
  const Case cases[] = {
      {"tensors",
       [](mla_tensors* t, mla_plan*) { t->struct_size = offsetof(mla_tensors, kv_rows) - 8; }},
      {"plan", [](mla_tensors*, mla_plan* p) { p->struct_size -= 8; }},
      {"batch", [](mla_tensors* t, mla_plan*) { t->batch = 0; }},
      {"batch", [](mla_tensors* t, mla_plan*) { t->batch = 65536; }},
      {"nhead", [](mla_tensors* t, mla_plan*) { t->nhead = 129; }},
      {"q_len", [](mla_tensors* t, mla_plan*) { t->q_len = 9; }},
      {"max_seq_len", [](mla_tensors* t, mla_plan*) { t->max_seq_len = -1; }},
      {"page_size", [](mla_tensors* t, mla_plan*) { t->page_size = 8; }},
      {"kv_dtype", [](mla_tensors* t, mla_plan*) { t->kv_dtype = 2; }},
      {"softmax_scale",
       [](mla_tensors* t, mla_plan*) {
         t->softmax_scale = std::numeric_limits<float>::quiet_NaN();
       }},
      {"kv_scale", [](mla_tensors* t, mla_plan*) { t->kv_scale = 0.5f; }},
      {"kv_scale",
       [](mla_tensors* t, mla_plan*) {
         t->kv_dtype = 1;
         t->kv_scale = 0;
       }},
      {"q", [](mla_tensors* t, mla_plan*) { t->q = nullptr; }},
      {"q_head_stride", [](mla_tensors* t, mla_plan*) { t->q_head_stride = 512; }},
      {"q_token_stride", [](mla_tensors* t, mla_plan*) { t->q_token_stride = -576; }},
      {"kv", [](mla_tensors* t, mla_plan*) { t->kv = nullptr; }},
      {"kv", [](mla_tensors* t, mla_plan*) { t->kv = static_cast<const uint8_t*>(t->kv) + 1; }},
      {"kv_row_stride", [](mla_tensors* t, mla_plan*) { t->kv_row_stride = 575; }},
      {"kv_rows", [](mla_tensors* t, mla_plan*) { t->kv_rows = -1; }},
      {"kv_indptr", [](mla_tensors* t, mla_plan*) { t->kv_indptr = nullptr; }},
      {"kv_indices", [](mla_tensors* t, mla_plan*) { t->kv_indices = nullptr; }},
      {"last_page_len", [](mla_tensors* t, mla_plan*) { t->last_page_len = nullptr; }},
      {"out", [](mla_tensors* t, mla_plan*) { t->out = nullptr; }},
      {"workspace", [](mla_tensors* t, mla_plan*) { t->workspace = nullptr; }},
      {"workspace",
       [](mla_tensors* t, mla_plan*) { t->workspace = static_cast<uint8_t*>(t->workspace) + 16; }},
      {"workspace_bytes", [](mla_tensors* t, mla_plan*) { --t->workspace_bytes; }},
      {"plan: splits", [](mla_tensors*, mla_plan* p) { p->splits = 0; }},
      {"plan: tile_n", [](mla_tensors*, mla_plan* p) { p->tile_n = 48; }},
      {"plan: wait", [](mla_tensors*, mla_plan* p) { p->wait = 7; }},
      {"plan: stage1_warps", [](mla_tensors*, mla_plan* p) { p->stage1_warps = 4; }},
      {"plan: schedule", [](mla_tensors*, mla_plan* p) { p->schedule = 1; }}};
  const auto workload = ragged_workload();
  const OpenDecode decode;
  const mla_plan good = plan_of(split_config(8));
  for (const Case& wrong : cases) {
    Tensors tensors(*workload);
    mla_plan plan = good;
    wrong.change(&tensors.abi, &plan);
    BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_ERROR_USAGE,
               wrong.named);
    const std::string message = decode.message();
    BOOST_TEST(message.rfind(wrong.named, 0) == 0u, message + " names " + wrong.named);
    BOOST_TEST((tensors.output == Tensors(*workload).output));
  }
}

BOOST_AUTO_TEST_CASE(the_rows_of_the_pool_reach_the_device_and_may_lie_beyond_an_older_struct) {
  const auto workload = ragged_workload();
  Tensors tensors(*workload);
  const mla_plan plan = plan_of(split_config(2));
  const auto device = open_device("cpu");
  const auto rows = [&] {
    return read_arguments(&tensors.abi, &plan, device->space(), 2).params.kv_rows;
  };
  tensors.abi.kv_rows = 4096;
  BOOST_TEST(rows() == 4096);
  tensors.abi.struct_size = offsetof(mla_tensors, kv_rows);
  BOOST_TEST(rows() == 0);
  const OpenDecode decode;
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK);
}

BOOST_AUTO_TEST_CASE(a_launch_without_structs_or_with_a_stream_is_refused_with_the_reason) {
  const auto workload = ragged_workload();
  const OpenDecode decode;
  Tensors tensors(*workload);
  const mla_plan plan = plan_of(split_config(1));
  BOOST_TEST(mla_decode_launch(nullptr, &tensors.abi, &plan, nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_decode_launch(decode.get(), nullptr, &plan, nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(decode.message() == "tensors: is null");
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, nullptr, nullptr) == MLA_ERROR_USAGE);
  BOOST_TEST(decode.message() == "plan: is null");
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, &tensors) == MLA_ERROR_USAGE);
  BOOST_TEST(decode.message() == "stream: a CPU has none, pass null");
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK);
  BOOST_TEST(decode.message() == "");
}

BOOST_AUTO_TEST_CASE(one_split_needs_no_workspace) {
  const auto workload = ragged_workload();
  const OpenDecode decode;
  Tensors tensors(*workload);
  tensors.abi.workspace = nullptr;
  tensors.abi.workspace_bytes = 0;
  const mla_plan plan = plan_of(split_config(1));
  BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK);
}

BOOST_AUTO_TEST_CASE(the_workspace_that_is_asked_for_is_enough_and_nothing_behind_it_is_written) {
  const auto workload = ragged_workload();
  const OpenDecode decode;
  for (const int32_t splits : {2, 3, 8}) {
    Tensors tensors(*workload, splits);
    const mla_plan plan = plan_of(split_config(splits));
    BOOST_TEST(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK);
    BOOST_TEST(tensors.intact_behind(tensors.abi.workspace_bytes));
  }
}

BOOST_AUTO_TEST_CASE(workspace_bytes_grow_with_every_argument) {
  const int32_t steps[] = {1, 2, 3, 7, 16, 100};
  for (const int32_t a : steps) {
    for (const int32_t b : steps) {
      if (b < a) continue;
      BOOST_TEST(mla_decode_workspace_bytes(a, 2, 12, 4) <=
                 mla_decode_workspace_bytes(b, 2, 12, 4));
      BOOST_TEST(mla_decode_workspace_bytes(3, a, 12, 4) <=
                 mla_decode_workspace_bytes(3, b, 12, 4));
      BOOST_TEST(mla_decode_workspace_bytes(3, 2, a, 4) <= mla_decode_workspace_bytes(3, 2, b, 4));
      BOOST_TEST(mla_decode_workspace_bytes(3, 2, 12, a) <=
                 mla_decode_workspace_bytes(3, 2, 12, b));
    }
  }
  BOOST_TEST(mla_decode_workspace_bytes(-1, 2, 12, 4) == 0);
  BOOST_TEST(mla_decode_workspace_bytes(3, 2, 12, 1) == 0);
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_opened_says_why_and_leaves_no_handle) {
  const OpenDecode unknown("tpu");
  BOOST_TEST(unknown.status() == MLA_ERROR_USAGE);
  BOOST_TEST(unknown.get() == nullptr);
  BOOST_TEST(unknown.open_message() == "unknown device 'tpu'; there are cpu and hip:N");
  const OpenDecode absent("hip:1000");
  BOOST_TEST(absent.status() == MLA_ERROR_DEVICE);
  BOOST_TEST(absent.open_message().find("'hip:1000'") != std::string::npos);
  char cut[8];
  mla_decode* decode = nullptr;
  BOOST_TEST(mla_decode_open("tpu", &decode, cut, sizeof cut) == MLA_ERROR_USAGE);
  BOOST_TEST(cut == "unknown");
  BOOST_TEST(mla_decode_open(nullptr, &decode, nullptr, 0) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_decode_open("cpu", nullptr, nullptr, 0) == MLA_ERROR_USAGE);
}

BOOST_AUTO_TEST_CASE(a_description_too_small_is_refused) {
  const OpenDecode decode;
  mla_device_desc device{};
  device.struct_size = 4;
  BOOST_TEST(mla_decode_describe(decode.get(), &device) == MLA_ERROR_USAGE);
  BOOST_TEST(mla_decode_describe(nullptr, &device) == MLA_ERROR_USAGE);
}

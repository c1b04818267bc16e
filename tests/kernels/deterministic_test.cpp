// SPDX-License-Identifier: MIT
// What the deterministic mode promises, with the kernels: a request's result is the same bits
// whatever requests share its launch.
#define BOOST_TEST_MODULE kernels_deterministic
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "policy/mla_policy.h"
#include "tests/kernels/decode_cases.h"

using namespace mla;
using namespace mla::test;

namespace {

struct ClosedPolicy {
  explicit ClosedPolicy(mla_mode mode) {
    mla_device_desc device{};
    device.struct_size = sizeof device;
    device.compute_units = 64;
    device.arch = "x86-64";
    mla_policy_open(nullptr, 0, &device, &policy);
    mla_policy_set_mode(policy, mode);
  }
  ~ClosedPolicy() { mla_policy_close(policy); }
  mla_policy* policy = nullptr;
};

// Plans the batch as a serving engine does, by its mean length, and launches it.
Output decode_batch(const ClosedPolicy& policy, const DecodeParams& inputs, int64_t rows) {
  mla_shape shape{};
  shape.struct_size = sizeof shape;
  shape.batch = inputs.batch;
  shape.seq_len = ceil_div(rows, inputs.batch);
  shape.share_group = 8;
  shape.nhead = inputs.nhead;
  shape.q_len = 1;
  shape.page_size = inputs.page_size;
  shape.imbalance = 1;
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  BOOST_TEST_REQUIRE(mla_policy_plan(policy.policy, &shape, &plan) == MLA_OK);
  const OpenDecode decode;
  Tensors tensors(inputs, rows, plan.splits);
  BOOST_TEST_REQUIRE(mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr) == MLA_OK,
                     decode.message());
  return tensors.output;
}

// The first request alone.
DecodeParams first_of(DecodeParams params) {
  params.batch = 1;
  return params;
}

// Of the first request's output: bytes that differ between the two launches.
bool same_first_request(const Output& alone, const Output& together) {
  return std::memcmp(alone.out.data(), together.out.data(), alone.out.size() * 2) == 0 &&
         std::memcmp(alone.lse.data(), together.lse.data(), alone.lse.size() * 4) == 0;
}

bool is_independent_of_its_batch(mla_mode mode) {
  const std::vector<int64_t> lengths = {1000, 300, 4000, 0, 65};
  const auto workload = make_workload({}, lengths);
  const ClosedPolicy policy(mode);
  const Output alone = decode_batch(policy, first_of(workload->params()), lengths[0]);
  const Output together = decode_batch(policy, workload->params(), 5365);
  return same_first_request(alone, together);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_request_gets_the_same_bits_alone_and_in_a_batch) {
  BOOST_TEST(is_independent_of_its_batch(MLA_MODE_DETERMINISTIC));
}

BOOST_AUTO_TEST_CASE(without_the_mode_the_bits_depend_on_the_batch) {
  BOOST_TEST(!is_independent_of_its_batch(MLA_MODE_OFF));
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE reference
#include "kernels/reference.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/fp8.h"
#include "kernels/workload.h"

using namespace mla;

namespace {

// Two rows and one head, small enough to work out by hand.
struct TwoRows {
  std::vector<uint16_t> q = std::vector<uint16_t>(kHeadDim, 0);
  std::vector<uint16_t> kv = std::vector<uint16_t>(2 * kHeadDim, 0);
  std::vector<int32_t> indptr = {0, 2}, indices = {1, 0}, last = {1};
  DecodeParams params(int32_t q_len = 1) {
    DecodeParams p;
    p.batch = p.nhead = 1;
    p.q_len = q_len;
    p.softmax_scale = 0.5f;
    p.q = q.data();
    p.q_token_stride = p.q_head_stride = kHeadDim;
    p.kv = kv.data();
    p.kv_indptr = indptr.data();
    p.kv_indices = indices.data();
    p.last_page_len = last.data();
    return p;
  }
};

std::vector<uint16_t> rounded(const std::vector<ReferenceRow>& rows) {
  std::vector<uint16_t> out;
  for (const ReferenceRow& row : rows) {
    for (const double value : row.out) out.push_back(float_to_bf16(static_cast<float>(value)));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_rows_are_weighted_by_their_logits) {
  TwoRows data;
  data.q[0] = float_to_bf16(2);
  data.kv[kHeadDim] = float_to_bf16(1);  // row 0 of the request: logit 0.5 * 2 * 1 = 1
  data.kv[0] = float_to_bf16(3);         // row 1: logit 3
  const ReferenceRow row = reference_row(data.params(), 0, 0);
  const double weight = std::exp(3.0) / (std::exp(1.0) + std::exp(3.0));
  BOOST_TEST(row.out[0] == (1 - weight) * 1 + weight * 3, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(row.lse == std::log(std::exp(1.0) + std::exp(3.0)),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(the_rope_columns_weigh_but_are_not_values) {
  TwoRows data;
  data.q[575] = float_to_bf16(1);
  data.kv[575] = float_to_bf16(64);
  data.kv[511] = float_to_bf16(7);
  const ReferenceRow row = reference_row(data.params(), 0, 0);
  BOOST_TEST(row.out.size() == 512u);
  BOOST_TEST(row.out[511] == 7, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(fp8_rows_are_multiplied_by_their_scale_as_keys_and_as_values) {
  TwoRows data;
  data.q[0] = float_to_bf16(2);
  std::vector<uint8_t> rows(2 * kHeadDim, 0);
  rows[kHeadDim] = float_to_fp8(4);  // row 0 of the request: 4 * 0.25 = 1, logit 1
  rows[0] = float_to_fp8(12);        // row 1: 3, logit 3
  DecodeParams p = data.params();
  p.kv_dtype = KvDtype::kFp8;
  p.kv_scale = 0.25f;
  p.kv = rows.data();
  const ReferenceRow row = reference_row(p, 0, 0);
  const double weight = std::exp(3.0) / (std::exp(1.0) + std::exp(3.0));
  BOOST_TEST(row.out[0] == (1 - weight) * 1 + weight * 3, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(row.lse == std::log(std::exp(1.0) + std::exp(3.0)),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(the_last_query_positions_are_causal) {
  TwoRows data;
  data.q.resize(3 * kHeadDim, 0);
  data.kv[kHeadDim] = float_to_bf16(1);
  data.kv[0] = float_to_bf16(3);
  const DecodeParams p = data.params(3);
  BOOST_TEST(std::isinf(reference_row(p, 0, 0).lse));  // sees no row
  BOOST_TEST(reference_row(p, 0, 0).out[0] == 0);
  BOOST_TEST(reference_row(p, 1, 0).out[0] == 1);  // sees row 0
  BOOST_TEST(reference_row(p, 2, 0).out[0] == 2);  // sees both, equal logits
}

BOOST_AUTO_TEST_CASE(a_sample_holds_the_first_and_last_row_and_no_row_twice) {
  const Workload workload(parse_problem("batch=3 nhead=5 seq_len=20 q_len=2"), {});
  const auto rows = reference_sample(workload.params(), 7, 3);
  BOOST_REQUIRE(rows.size() == 7u);
  BOOST_TEST((rows.front().token == 0 && rows.front().head == 0));
  BOOST_TEST((rows.back().token == 5 && rows.back().head == 4));
  BOOST_TEST(reference_sample(workload.params(), 1000, 3).size() == 30u);
}

BOOST_AUTO_TEST_CASE(a_rounded_reference_passes_and_each_kind_of_damage_fails) {
  WorkloadOptions options;
  options.lengths = {0, 40};
  const Workload workload(parse_problem("batch=2 nhead=3 seq_len=20"), options);
  const auto rows = reference_sample(workload.params(), 100, 1);
  const std::vector<uint16_t> good = rounded(rows);
  std::vector<float> lse;
  for (const ReferenceRow& row : rows) lse.push_back(static_cast<float>(row.lse));
  const auto check = [&](const std::vector<uint16_t>& out, const std::vector<float>& values) {
    return check_against_reference(rows, 3, out.data(), values.data(), Tolerance{}).kind;
  };
  BOOST_TEST((check(good, lse) == OutcomeKind::kOk));

  std::vector<uint16_t> out = good;
  out[4 * kValueDim + 7] = kBf16Nan;
  BOOST_TEST((check(out, lse) == OutcomeKind::kNonFinite));
  out = good;
  for (int i = 0; i < kValueDim; ++i) {
    uint16_t& value = out[static_cast<size_t>(4 * kValueDim + i)];
    value = float_to_bf16(1.01f * bf16_to_float(value));
  }
  BOOST_TEST((check(out, lse) == OutcomeKind::kWrong));
  out = good;
  out[5] = float_to_bf16(0.5f);  // a request of length 0 has to write zeros
  BOOST_TEST((check(out, lse) == OutcomeKind::kWrong));

  std::vector<float> shifted = lse;
  shifted[4] += 3e-4f;
  BOOST_TEST((check(good, shifted) == OutcomeKind::kWrong));
  shifted = lse;
  shifted[0] = 0;  // -inf expected
  BOOST_TEST((check(good, shifted) == OutcomeKind::kNonFinite));
}

BOOST_AUTO_TEST_CASE(the_worst_row_is_named) {
  const Workload workload(parse_problem("batch=2 nhead=3 seq_len=20"), {});
  const auto rows = reference_sample(workload.params(), 100, 1);
  std::vector<uint16_t> out = rounded(rows);
  out[4 * kValueDim] = float_to_bf16(100);
  const Outcome outcome = check_against_output(
      workload.params(), out.data(), nullptr, rounded(rows).data(), nullptr, Tolerance{});
  BOOST_TEST((outcome.kind == OutcomeKind::kWrong));
  BOOST_TEST(outcome.text.find("token 1 head 1") != std::string::npos);
}

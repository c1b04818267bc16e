// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE workload
#include "kernels/workload.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "kernels/error.h"
#include "kernels/fp8.h"
#include "kernels/reference.h"

using namespace mla;

namespace {

float element(const Workload& workload, int64_t row, int i) {
  const void* pool = workload.params().kv;
  const int64_t offset = row * kHeadDim + i;
  if (workload.problem().kv_dtype == KvDtype::kFp8) {
    return fp8_to_float(static_cast<const uint8_t*>(pool)[offset]);
  }
  return bf16_to_float(static_cast<const uint16_t*>(pool)[offset]);
}

bool is_nan_row(const Workload& workload, int64_t row) {
  for (int i = 0; i < kHeadDim; ++i) {
    if (!std::isnan(element(workload, row, i))) return false;
  }
  return true;
}

bool is_finite_row(const Workload& workload, int64_t row) {
  for (int i = 0; i < kHeadDim; ++i) {
    if (!std::isfinite(element(workload, row, i))) return false;
  }
  return true;
}

std::set<int64_t> rows_in_use(const Workload& workload) {
  std::set<int64_t> used;
  const DecodeParams p = workload.params();
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t n = 0; n < request_rows(p, b); ++n) used.insert(row_offset(p, b, n) / kHeadDim);
  }
  return used;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += a[i] * a[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_row_in_use_is_finite_and_every_other_row_is_nan) {
  for (const char* text : {"batch=3 nhead=2 seq_len=100",
                           "batch=3 nhead=2 seq_len=100 kv_dtype=fp8",
                           "batch=5 nhead=2 seq_len=70 page_size=16 imbalance=2",
                           "batch=9 nhead=2 seq_len=200 page_size=64 shared_prefix=128/4"}) {
    WorkloadOptions options;
    options.seed = 5;
    const Workload workload(parse_problem(text), options);
    const std::set<int64_t> used = rows_in_use(workload);
    const int64_t rows = workload.pool_pages() * workload.problem().page_size;
    for (int64_t row = 0; row < rows; ++row) {
      BOOST_TEST_REQUIRE(
          (used.count(row) == 1 ? is_finite_row(workload, row) : is_nan_row(workload, row)));
    }
  }
}

BOOST_AUTO_TEST_CASE(index_entries_past_the_end_are_garbage) {
  const Workload workload(parse_problem("batch=2 nhead=1 seq_len=10"), {});
  const auto end = static_cast<size_t>(workload.kv_indptr().back());
  BOOST_TEST(end == 20u);
  BOOST_REQUIRE(workload.kv_indices().size() > end + 100);
  for (size_t i = end; i < workload.kv_indices().size(); ++i) {
    const int32_t index = workload.kv_indices()[i];
    BOOST_TEST((index < 0 || index >= workload.pool_pages()));
  }
}

BOOST_AUTO_TEST_CASE(every_request_has_pages_of_its_own_in_no_order) {
  for (const int64_t seq_len : {1, 2, 3, 31, 32, 33, 4097, 70000, 200000}) {
    Problem problem;
    problem.batch = 3;
    problem.seq_len = seq_len;
    WorkloadOptions options;
    options.with_pool = false;
    const Workload workload(problem, options);
    const std::vector<int32_t>& indices = workload.kv_indices();
    const int64_t used = workload.kv_indptr().back();
    BOOST_TEST(used == 3 * seq_len);
    const std::set<int32_t> distinct(indices.begin(), indices.begin() + used);
    BOOST_TEST(static_cast<int64_t>(distinct.size()) == used);
    BOOST_TEST(*distinct.begin() >= 0);
    BOOST_TEST(*distinct.rbegin() == workload.pool_pages() - 1);
    int64_t next = 0;  // neighbours in memory
    for (int64_t i = 1; i < used; ++i) {
      next += indices[static_cast<size_t>(i)] == indices[static_cast<size_t>(i - 1)] + 1;
    }
    BOOST_TEST(next <= 3 + used / 50, seq_len);
  }
}

BOOST_AUTO_TEST_CASE(a_shared_prefix_is_the_same_rows_within_a_group_and_others_between_groups) {
  const Workload workload(parse_problem("batch=20 nhead=1 seq_len=50 shared_prefix=40/8"), {});
  const DecodeParams p = workload.params();
  std::set<int64_t> prefixes;
  for (int64_t b = 0; b < 20; ++b) {
    for (int64_t n = 0; n < 40; ++n) {
      BOOST_TEST(row_offset(p, b, n) == row_offset(p, b / 8 * 8, n));
    }
    prefixes.insert(row_offset(p, b, 0));
  }
  BOOST_TEST(prefixes.size() == 3u);
  BOOST_TEST(rows_in_use(workload).size() == 3u * 40 + 20u * 10);
}

BOOST_AUTO_TEST_CASE(imbalanced_lengths_keep_the_mean_and_reach_their_class) {
  for (const int imbalance : {2, 4, 8}) {
    Problem problem = parse_problem("batch=16 nhead=1 seq_len=1000");
    problem.imbalance = imbalance;
    WorkloadOptions options;
    options.with_pool = false;
    options.spikes = false;
    const Workload workload(problem, options);
    int64_t sum = 0;
    for (const int64_t length : workload.lengths()) sum += length;
    BOOST_TEST(sum <= 16000);
    BOOST_TEST(sum > 16000 - 16);
    BOOST_TEST(imbalance_class(workload.max_length(), ceil_div(sum, 16)) == imbalance);
  }
}

BOOST_AUTO_TEST_CASE(zero_length_requests_own_no_pages) {
  WorkloadOptions options;
  options.lengths = {0, 5, 0};
  const Workload workload(parse_problem("batch=3 nhead=1 seq_len=2"), options);
  BOOST_TEST(request_rows(workload.params(), 0) == 0);
  BOOST_TEST(request_rows(workload.params(), 1) == 5);
  BOOST_TEST(request_rows(workload.params(), 2) == 0);
}

BOOST_AUTO_TEST_CASE(a_large_pool_passes_32_bit_offsets_without_taking_its_size_in_memory) {
  const Workload workload(parse_problem("batch=2 nhead=1 seq_len=300 pool=large"), {});
  const DecodeParams p = workload.params();
  int64_t widest = 0;
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t n = 0; n < 300; ++n) widest = std::max(widest, row_offset(p, b, n));
  }
  BOOST_TEST(widest * 2 > int64_t{1} << 32);
  BOOST_TEST(is_finite_row(workload, widest / kHeadDim));
  BOOST_TEST(is_nan_row(workload, widest / kHeadDim - 1));
}

BOOST_AUTO_TEST_CASE(the_same_seed_makes_the_same_inputs_and_another_seed_others) {
  const Problem problem = parse_problem("batch=2 nhead=3 seq_len=64");
  WorkloadOptions options;
  const Workload first(problem, options);
  const Workload second(problem, options);
  options.seed = 2;
  const Workload other(problem, options);
  BOOST_TEST((first.q() == second.q() && first.kv_indices() == second.kv_indices()));
  BOOST_TEST((first.q() != other.q() && first.kv_indices() != other.kv_indices()));
}

// The point of the spikes: a kernel that drops one of these rows cannot pass.
BOOST_AUTO_TEST_CASE(dropping_any_spiked_row_moves_its_output_by_more_than_10_percent) {
  for (const char* text : {"batch=2 nhead=12 seq_len=1000",
                           "batch=2 nhead=12 seq_len=1000 kv_dtype=fp8",
                           "batch=1 nhead=1 seq_len=5000",
                           "batch=2 nhead=3 seq_len=65 q_len=4"}) {
    WorkloadOptions options;
    options.seed = 9;
    options.spike_splits = 5;
    const Workload workload(parse_problem(text), options);
    auto* pool = static_cast<uint8_t*>(const_cast<void*>(workload.params().kv));
    const DecodeParams p = workload.params();
    const int64_t bytes = row_bytes(p.kv_dtype);
    BOOST_TEST(!workload.spikes().empty());
    for (size_t i = 0; i < workload.spikes().size(); i += 1 + workload.spikes().size() / 25) {
      const Workload::SpikeRow& spike = workload.spikes()[i];
      const int64_t token = spike.request * p.q_len + spike.t;
      const ReferenceRow whole = reference_row(p, token, spike.head);
      // The row's weight vanishes: its rope part is turned against the query.
      uint8_t* row = pool + spike.pool_row * bytes;
      std::vector<uint16_t> values(kHeadDim);
      fill_base_row(options.seed, spike.pool_row, values.data());
      const uint16_t* q = p.q + token * p.q_token_stride + spike.head * p.q_head_stride;
      for (int d = kValueDim; d < kHeadDim; ++d) {
        values[static_cast<size_t>(d)] = float_to_bf16(-15 * bf16_to_float(q[d]));
      }
      store_row(p.kv_dtype, values.data(), row);
      const ReferenceRow dropped = reference_row(p, token, spike.head);
      std::copy(spike.bytes.begin(), spike.bytes.end(), row);
      BOOST_TEST(distance(whole.out, dropped.out) > 0.1, text << " row " << spike.n);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_and_last_row_of_each_split_tile_and_page_are_spiked) {
  WorkloadOptions options;
  options.spike_tile_n = 32;
  options.spike_splits = 3;
  const Workload workload(parse_problem("batch=1 nhead=12 seq_len=333 page_size=16"), options);
  std::set<int64_t> spiked;
  for (const Workload::SpikeRow& spike : workload.spikes()) spiked.insert(spike.n);
  for (int64_t n = 0; n < 333; n += 16) {
    BOOST_TEST(spiked.count(n) == 1u);
    BOOST_TEST(spiked.count(std::min<int64_t>(n + 16, 333) - 1) == 1u);
  }
}

BOOST_AUTO_TEST_CASE(more_page_indices_than_32_bits_count_are_refused_before_they_wrap) {
  const Problem problem =
      parse_problem("batch=65535 nhead=1 seq_len=68000 shared_prefix=68000/65535");
  BOOST_CHECK_EXCEPTION(Workload(problem, {}), Error, [](const Error& error) {
    return error.code() == ErrorCode::kDevice &&
           std::string(error.what()).find("4456380000 page indices") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_pool_smaller_than_its_requests_is_refused) {
  WorkloadOptions options;
  options.pool_pages = 5;
  BOOST_CHECK_THROW(Workload(parse_problem("batch=3 nhead=1 seq_len=2"), options), Error);
}

BOOST_AUTO_TEST_CASE(lengths_that_do_not_fit_the_problem_are_refused) {
  WorkloadOptions options;
  options.lengths = {1, 2};
  BOOST_CHECK_THROW(Workload(parse_problem("batch=3 nhead=1 seq_len=2"), options), Error);
  options.lengths = {1, -2, 3};
  BOOST_CHECK_THROW(Workload(parse_problem("batch=3 nhead=1 seq_len=2"), options), Error);
}

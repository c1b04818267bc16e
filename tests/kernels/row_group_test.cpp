// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE row_group
#include "kernels/row_group.h"

#include <boost/test/unit_test.hpp>
#include <set>

using namespace mla;

namespace {

constexpr int32_t kHeads[] = {1, 5, 12, 16, 24, 64, 128};
constexpr int32_t kGroupRows[] = {16, 32, 64, 128};

DecodeParams params_of(int32_t batch, int32_t q_len, int32_t nhead) {
  DecodeParams params;
  params.batch = batch;
  params.q_len = q_len;
  params.nhead = nhead;
  params.q_head_stride = kHeadDim + 1;
  params.q_token_stride = nhead * params.q_head_stride + 7;
  // Addresses alone are compared, but they have to be within an array.
  static const std::vector<uint16_t> queries(3 * kMaxQLen * (kMaxHeads * (kHeadDim + 1) + 7));
  params.q = queries.data();
  return params;
}

// The groups of all requests, as a launch of one split numbers them.
std::vector<RowGroup> all_groups(const DecodeParams& params, int32_t group_rows) {
  const int64_t per_request = request_groups(query_rows(params), group_rows);
  std::vector<RowGroup> groups;
  for (int64_t i = 0; i < row_group_count(params, group_rows); ++i) {
    groups.push_back(row_group(params, group_rows, i / per_request, i % per_request));
  }
  return groups;
}

}  // namespace

BOOST_AUTO_TEST_CASE(
    every_output_row_is_in_one_group_of_its_request_and_groups_are_full_but_the_last) {
  for (const int32_t nhead : kHeads) {
    for (int32_t q_len = 1; q_len <= kMaxQLen; ++q_len) {
      for (const int32_t group_rows : kGroupRows) {
        const DecodeParams params = params_of(3, q_len, nhead);
        int64_t next = 0;
        for (const RowGroup& group : all_groups(params, group_rows)) {
          BOOST_TEST_REQUIRE(group.rows >= 1);
          BOOST_TEST_REQUIRE(group.request == next / query_rows(params));
          const int64_t behind = group.first_row + group.rows;
          BOOST_TEST_REQUIRE((group.rows == group_rows || behind == query_rows(params)));
          for (int64_t r = 0; r < group.rows; ++r) {
            BOOST_TEST_REQUIRE(group.output_row(params, r) == next++);
          }
        }
        BOOST_TEST_REQUIRE(next == 3 * query_rows(params));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_row_has_the_query_and_the_visible_length_of_its_head_and_position) {
  constexpr int64_t kCached = 3;  // fewer than some query positions: those see nothing
  for (const int32_t nhead : kHeads) {
    for (int32_t q_len = 1; q_len <= kMaxQLen; ++q_len) {
      const DecodeParams params = params_of(2, q_len, nhead);
      for (const RowGroup& group : all_groups(params, 32)) {
        for (int64_t r = 0; r < group.rows; ++r) {
          const int64_t token = group.output_row(params, r) / nhead;
          const int64_t head = group.output_row(params, r) % nhead;
          BOOST_TEST_REQUIRE(group.query(params, r) == params.q + token * params.q_token_stride +
                                                           head * params.q_head_stride);
          BOOST_TEST_REQUIRE(group.visible(params, kCached, r) ==
                             visible_rows(kCached, q_len, token % q_len));
          BOOST_TEST_REQUIRE(group.visible(params, kCached, r) >=
                             group.visible(params, kCached, 0));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_order_does_every_group_and_split_once) {
  const DecodeParams params = params_of(3, 2, 12);
  KernelConfig config;
  config.splits = 5;
  for (const int32_t group_rows : {16, 32}) {
    config.group_rows = group_rows;
    for (const Order order : {Order::kBatchMajor, Order::kSplitMajor}) {
      config.order = order;
      std::set<std::pair<int64_t, int64_t>> seen;
      for (int64_t i = 0; i < stage1_items(params, config); ++i) {
        const Stage1Item item = stage1_item(params, config, group_rows, i);
        BOOST_TEST(item.group < row_group_count(params, group_rows));
        BOOST_TEST(item.split < config.splits);
        seen.insert({item.group, item.split});
      }
      BOOST_TEST(seen.size() == static_cast<size_t>(stage1_items(params, config)));
    }
  }
  BOOST_TEST(row_group_count(params, 16) == 6);  // 24 rows straddle two groups
  BOOST_TEST(row_group_count(params, 32) == 3);
}

// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE partition
#include "kernels/partition.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

using namespace mla;

BOOST_AUTO_TEST_CASE(splits_cover_every_row_once_block_aligned_and_balanced) {
  for (const int64_t tile_n : {16, 32, 64, 128}) {
    for (const int64_t rows : {0, 1, 15, 16, 63, 64, 65, 1000, 4097, 68000}) {
      for (const int64_t budget : {1, 2, 3, 7, 16, 63, 64, 256, 1024}) {
        const int64_t splits = effective_splits(rows, budget, tile_n);
        int64_t next = 0;
        int64_t shortest = INT64_MAX;
        int64_t longest = 0;
        for (int64_t s = 0; s < splits; ++s) {
          const RowRange range = split_range(rows, budget, tile_n, s);
          BOOST_TEST_REQUIRE(range.begin == next);
          BOOST_TEST_REQUIRE(range.begin % tile_n == 0);
          BOOST_TEST_REQUIRE(range.end > range.begin);
          const int64_t blocks = block_count(range.end - range.begin, tile_n);
          shortest = std::min(shortest, blocks);
          longest = std::max(longest, blocks);
          next = range.end;
        }
        BOOST_TEST_REQUIRE(next == rows);
        if (splits > 0) {
          BOOST_TEST_REQUIRE(longest - shortest <= 1);
          BOOST_TEST_REQUIRE(longest == trips(rows, budget, tile_n));
        }
        for (int64_t s = splits; s < budget; ++s) {
          const RowRange range = split_range(rows, budget, tile_n, s);
          BOOST_TEST_REQUIRE(range.begin == range.end);
        }
      }
    }
  }
}

// The splits of a captured graph, chosen for longer requests. One block of 32 rows for each of 128
// splits took a third longer than two for each of 64; of blocks of 64 rows two took longer than
// one.
BOOST_AUTO_TEST_CASE(a_request_with_fewer_blocks_than_splits_gets_64_rows_at_most_in_each) {
  BOOST_TEST(effective_splits(4096, 128, 32) == 128);
  BOOST_TEST(effective_splits(4096, 129, 32) == 64);
  BOOST_TEST(trips(4096, 132, 32) == 2);
  BOOST_TEST(effective_splits(33 * 32, 132, 32) == 17);
  BOOST_TEST(trips(33 * 32, 132, 32) == 2);
  BOOST_TEST(effective_splits(1024, 86, 64) == 16);
  BOOST_TEST(trips(1024, 86, 64) == 1);
  BOOST_TEST(trips(1024, 86, 16) == 4);
  BOOST_TEST(trips(1024, 86, 128) == 1);
  BOOST_TEST(trips(130, 132, 16) == 3);  // shares of 48, 48 and 34 rows
  BOOST_TEST(effective_splits(20, 132, 32) == 1);
  BOOST_TEST(effective_splits(0, 132, 32) == 0);
}

// 68,000 rows over 256 splits: rows cut evenly, rest to the last, make one split of 7 trips
// beside 5.
BOOST_AUTO_TEST_CASE(one_request_on_256_units_takes_five_trips) {
  BOOST_TEST(trips(68000, 256, 64) == 5);
  BOOST_TEST(trips(68000, 213, 64) == 5);
  BOOST_TEST(trips(131071, 256, 64) == 8);
}

static_assert(split_range(1000, 4, 64, 0).end == 256, "the partition is usable at compile time");

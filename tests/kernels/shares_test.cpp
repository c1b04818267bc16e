// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE shares
#include "kernels/shares.h"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <vector>

using namespace mla;

namespace {

struct Batch {
  std::vector<int64_t> lengths;
  int32_t nhead = 12;
  int32_t q_len = 1;
  int32_t tile_n = 16;
  int32_t group_rows = 16;

  int64_t groups() const { return request_groups(int64_t{q_len} * nhead, group_rows); }
};

// Everything that a launch derives from the lengths, by plain loops.
class Launch {
 public:
  Launch(const Batch& batch, int64_t workgroups, int64_t splits) : batch_(batch) {
    indptr_.push_back(0);
    for (const int64_t rows : batch.lengths) {
      indptr_.push_back(indptr_.back() + static_cast<int32_t>(rows));
      last_page_len_.push_back(1);
    }
    params_.batch = static_cast<int32_t>(batch.lengths.size());
    params_.nhead = batch.nhead;
    params_.q_len = batch.q_len;
    params_.kv_indptr = indptr_.data();
    params_.last_page_len = last_page_len_.data();
    int64_t longest = 0;
    for (const int64_t rows : batch.lengths) {
      request_begin_.push_back(total_);
      const int64_t blocks = counted_blocks(rows, batch.tile_n);
      total_ += batch.groups() * blocks;
      longest = std::max(longest, blocks);
    }
    shares_ = make_shares(total_, longest, workgroups, splits);
  }

  const Shares& shares() const { return shares_; }
  int64_t total() const { return total_; }
  int64_t group_begin(int64_t request, int64_t group) const {
    const int64_t rows = batch_.lengths[static_cast<size_t>(request)];
    return request_begin_[static_cast<size_t>(request)] +
           group * counted_blocks(rows, batch_.tile_n);
  }

  std::vector<Piece> pieces(int64_t share) const {
    const int64_t block = shares_.begin(share);
    const auto behind = std::upper_bound(request_begin_.begin(), request_begin_.end(), block);
    const int64_t request = behind - request_begin_.begin() - 1;
    std::vector<Piece> result;
    for (ShareWalk<> walk(params_,
                          batch_.tile_n,
                          batch_.groups(),
                          shares_,
                          share,
                          request,
                          request_begin_[static_cast<size_t>(request)]);
         !walk.done();
         walk.next()) {
      result.push_back(walk.piece());
    }
    return result;
  }

 private:
  Batch batch_;
  DecodeParams params_;
  std::vector<int32_t> indptr_, last_page_len_;
  std::vector<int64_t> request_begin_;
  int64_t total_ = 0;
  Shares shares_;
};

// The pieces of every row group, by (request, group), in the order of the shares.
using PiecesOfGroups = std::map<std::pair<int64_t, int64_t>, std::vector<Piece>>;

PiecesOfGroups all_pieces(const Launch& launch) {
  PiecesOfGroups result;
  for (int64_t share = 0; share < launch.shares().count; ++share) {
    for (const Piece& piece : launch.pieces(share))
      result[{piece.request, piece.group}].push_back(piece);
  }
  return result;
}

void check_group(const Launch& launch,
                 const Batch& batch,
                 int64_t request,
                 int64_t group,
                 const std::vector<Piece>& pieces,
                 int64_t splits) {
  const int64_t rows = batch.lengths[static_cast<size_t>(request)];
  int64_t next_row = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    BOOST_TEST_REQUIRE(pieces[i].rows == rows);
    BOOST_TEST_REQUIRE(pieces[i].range.begin == next_row);
    BOOST_TEST_REQUIRE((pieces[i].range.end > next_row || rows == 0));
    BOOST_TEST_REQUIRE(pieces[i].index == static_cast<int64_t>(i));
    BOOST_TEST_REQUIRE(pieces[i].whole == (pieces.size() == 1));
    next_row = pieces[i].range.end;
  }
  BOOST_TEST_REQUIRE(next_row == rows);
  BOOST_TEST_REQUIRE(static_cast<int64_t>(pieces.size()) <= splits);
  // As stage 2 counts them.
  BOOST_TEST_REQUIRE(static_cast<int64_t>(pieces.size()) ==
                     launch.shares().pieces(launch.group_begin(request, group),
                                            counted_blocks(rows, batch.tile_n)));
}

void check_launch(const Batch& batch, int64_t workgroups, int64_t splits) {
  const Launch launch(batch, workgroups, splits);
  const Shares& shares = launch.shares();
  BOOST_TEST_REQUIRE(shares.count >= 1);
  BOOST_TEST_REQUIRE(shares.count <= workgroups);
  BOOST_TEST_REQUIRE(shares.base >= 1);
  BOOST_TEST_REQUIRE(shares.begin(shares.count) == launch.total());
  for (int64_t share = 0; share < shares.count; ++share) {
    const int64_t blocks = shares.begin(share + 1) - shares.begin(share);
    BOOST_TEST_REQUIRE((blocks == shares.base || blocks == shares.base + 1));
    BOOST_TEST_REQUIRE(shares.of(shares.begin(share)) == share);
    BOOST_TEST_REQUIRE(shares.of(shares.begin(share + 1) - 1) == share);
  }
  const PiecesOfGroups groups = all_pieces(launch);
  BOOST_TEST_REQUIRE(groups.size() == batch.lengths.size() * static_cast<size_t>(batch.groups()));
  for (const auto& [key, pieces] : groups)
    check_group(launch, batch, key.first, key.second, pieces, splits);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_block_is_in_one_share_and_no_row_group_in_more_pieces_than_splits) {
  std::mt19937_64 random(5);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    Batch batch;
    batch.lengths.resize(1 + random() % 40);
    const int64_t most = std::array{1, 20, 300, 5000}[random() % 4];
    for (int64_t& rows : batch.lengths)
      rows = random() % 4 == 0 ? 0 : static_cast<int64_t>(random() % (most + 1));
    batch.nhead = std::array{1, 12, 33, 128}[random() % 4];
    batch.q_len = 1 + static_cast<int32_t>(random() % 8);
    batch.tile_n = std::array{16, 32, 64}[random() % 3];
    batch.group_rows = 16 << (random() % 4);
    const int64_t splits = 2 + static_cast<int64_t>(random() % 12);
    const int64_t workgroups = 1 + static_cast<int64_t>(random() % 300);
    BOOST_TEST_CONTEXT("repeat " << repeat) check_launch(batch, workgroups, splits);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_of_46_gives_264_workgroups_equal_shares) {
  const Launch launch({std::vector<int64_t>(46, 16384)}, 264, 8);
  BOOST_TEST(launch.shares().count == 264);
  BOOST_TEST(launch.shares().base == 178);
}

BOOST_AUTO_TEST_CASE(a_request_cut_into_more_pieces_than_splits_makes_the_shares_larger) {
  const Launch launch({{16 * 1000}}, 264, 9);
  BOOST_TEST(launch.shares().count == 8);
  BOOST_TEST(launch.pieces(7).size() == 1u);
}

BOOST_AUTO_TEST_CASE(one_long_request_among_short_ones_is_spread_over_the_device) {
  std::vector<int64_t> lengths(63, 1000);
  lengths.push_back(100000);
  const Launch launch({lengths}, 264, 256);
  BOOST_TEST(launch.shares().count == 264);
  const PiecesOfGroups groups = all_pieces(launch);
  BOOST_TEST(groups.at({63, 0}).size() > 150u);
}

BOOST_AUTO_TEST_CASE(empty_requests_are_pieces_without_rows) {
  const Launch launch({{0, 0, 100, 0}}, 4, 4);
  const PiecesOfGroups groups = all_pieces(launch);
  for (const int64_t request : {0, 1, 3}) {
    BOOST_TEST_REQUIRE(groups.at({request, 0}).size() == 1u);
    BOOST_TEST(groups.at({request, 0})[0].whole);
    BOOST_TEST(groups.at({request, 0})[0].range.end == 0);
  }
}

BOOST_AUTO_TEST_CASE(more_workgroups_than_blocks_leave_the_surplus_without_a_share) {
  const Launch launch({{40, 0}}, 264, 8);
  BOOST_TEST(launch.shares().count == 4);
}

BOOST_AUTO_TEST_CASE(two_workgroups_of_four_warps_run_on_a_compute_unit) {
  KernelConfig config;
  config.stage1_warps = 4;
  BOOST_TEST(persistent_workgroups(132, config) == 264);
  config.stage1_warps = 8;
  BOOST_TEST(persistent_workgroups(132, config) == 132);
}

static_assert(make_shares(100, 10, 8, 4).count == 8, "shares are usable at compile time");

// SPDX-License-Identifier: MIT
// The persistent schedule: the blocks (tile_n rows) of all row groups are laid end to end, request
// after request, and every workgroup takes one contiguous share of floor or ceil of the total. So
// neither ragged lengths nor a batch that does not divide the compute units leave one idle.
//
// A row group that is cut at the ends of shares has one partial result a piece, and at most
// `splits` of them: where the longest request would be cut more often, fewer workgroups take larger
// shares. An empty request counts as one block, because its output has to be written too.
//
// As in partition.h, GPU code counts in int32_t; the spaces bound the blocks of a launch.
#pragma once

#include <cstdint>

#include "kernels/decode_params.h"
#include "kernels/partition.h"
#include "kernels/row_group.h"

namespace mla {

template <class Int = int64_t>
constexpr Int counted_blocks(Same<Int> rows, Same<Int> tile_n) {
  return rows <= 0 ? 1 : block_count<Int>(rows, tile_n);
}

template <class Int>
struct BasicShares {
  Int count = 0;   // workgroups that get one
  Int base = 0;    // blocks of a share
  Int longer = 0;  // the first so many have one block more

  constexpr Int begin(Int share) const { return share * base + (share < longer ? share : longer); }
  // The share that holds a block.
  constexpr Int of(Int block) const {
    const Int in_longer = longer * (base + 1);
    return block < in_longer ? block / (base + 1) : longer + (block - in_longer) / base;
  }
  // Shares that hold blocks of [begin, begin + blocks): the pieces of a row group.
  constexpr Int pieces(Int begin, Int blocks) const {
    return of(begin + blocks - 1) - of(begin) + 1;
  }
};
using Shares = BasicShares<int64_t>;

// `total` blocks of all row groups, `longest` of one of them; splits >= 2 (a share's end may fall
// into any request). With at least s blocks between two ends, n blocks hold at most
// (n - 2) / s + 1 of them.
template <class Int = int64_t>
constexpr BasicShares<Int> make_shares(Same<Int> total,
                                       Same<Int> longest,
                                       Same<Int> workgroups,
                                       Same<Int> splits) {
  const Int least = longest < 2 ? 1 : (longest - 2) / (splits - 1) + 1;
  const Int most = total / least;
  const Int count = most < workgroups ? (most < 1 ? 1 : most) : workgroups;
  return {count, total / count, total % count};
}

// Consecutive blocks of one row group within a share.
template <class Int>
struct BasicPiece {
  Int request = 0;
  Int group = 0;  // of the request
  Int rows = 0;   // of the request
  BasicRowRange<Int> range;
  Int index = 0;       // of the row group's pieces
  bool whole = false;  // the only one: it writes the output itself
};
using Piece = BasicPiece<int64_t>;

// The pieces of one share, in order.
template <class Int = int64_t>
class ShareWalk {
 public:
  // `groups` are those of a request. `request` holds the share's first block, `request_begin` is
  // the request's own first block.
  constexpr ShareWalk(const DecodeParams& p,
                      Int tile_n,
                      Int groups,
                      const BasicShares<Int>& shares,
                      Int share,
                      Int request,
                      Int request_begin)
      : p_(p),
        tile_n_(tile_n),
        groups_(groups),
        shares_(shares),
        share_(share),
        block_(shares.begin(share)),
        end_(shares.begin(share + 1)),
        request_(request) {
    read_request();
    group_ = (block_ - request_begin) / blocks_;
    group_begin_ = request_begin + group_ * blocks_;
  }

  constexpr bool done() const { return block_ >= end_; }

  constexpr BasicPiece<Int> piece() const {
    const Int group_end = group_begin_ + blocks_;
    const Int last = end_ < group_end ? end_ : group_end;
    const Int row_end = (last - group_begin_) * tile_n_;
    BasicPiece<Int> piece;
    piece.request = request_;
    piece.group = group_;
    piece.rows = rows_;
    piece.range = {(block_ - group_begin_) * tile_n_, row_end < rows_ ? row_end : rows_};
    piece.index = block_ == group_begin_ ? 0 : share_ - shares_.of(group_begin_);
    piece.whole = block_ == group_begin_ && last == group_end;
    return piece;
  }

  constexpr void next() {
    group_begin_ += blocks_;
    block_ = group_begin_;
    if (++group_ < groups_ || done()) return;
    group_ = 0;
    ++request_;
    read_request();
  }

 private:
  constexpr void read_request() {
    rows_ = static_cast<Int>(request_rows(p_, request_));
    blocks_ = counted_blocks<Int>(rows_, tile_n_);
  }

  const DecodeParams& p_;
  Int tile_n_;
  Int groups_;
  BasicShares<Int> shares_;
  Int share_;
  Int block_;  // the next one, counted over all row groups
  Int end_;
  Int request_;
  Int rows_ = 0;    // of the request
  Int blocks_ = 0;  // of each of its row groups
  Int group_ = 0;
  Int group_begin_ = 0;
};

// Workgroups that run at once: two of four warps share a compute unit, one of eight has it alone.
constexpr int64_t persistent_workgroups(int64_t compute_units, const KernelConfig& config) {
  return compute_units * 8 / (config.stage1_warps < 1 ? 8 : config.stage1_warps);
}

}  // namespace mla

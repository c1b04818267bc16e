// SPDX-License-Identifier: MIT
// The score warpgroup of a wide workgroup: S = Q K^T of a block, softmax, and the weights for the
// value warpgroups.
#pragma once

#include "kernels/gpu/nv_panel_ring.cuh"
#include "kernels/gpu/nv_weights.cuh"
#include "kernels/gpu/nv_wide_results.cuh"
#include "kernels/stage1.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

// The scores of a block for raise_max (stage1.h).
struct ScoreTile {
  using Rows = FragmentRows;

  float (&score)[32];
  float factor;  // to units of log2; positive

  __device__ void scale(float by) {
#pragma unroll
    for (int i = 0; i < 32; ++i) score[i] *= by;
  }

  // S = -inf from cached row limits[...] of the block on.
  __device__ void mask(const int (&limits)[2]) {
    const int first = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      if (i / 4 * 8 + first + i % 2 >= limits[i / 2 % 2]) score[i] = -INFINITY;
    }
  }

  __device__ Rows row_max() const {
    float max[4] = {score[0], score[1], score[2], score[3]};
#pragma unroll
    for (int i = 4; i < 32; ++i) max[i % 4] = fmaxf(max[i % 4], score[i]);
    Rows rows = {{fmaxf(max[0], max[1]), fmaxf(max[2], max[3])}};
#pragma unroll
    for (int distance = 1; distance <= 2; ++distance) {  // the four lanes of a row
      for (int i = 0; i < 2; ++i) {
        rows[i] = fmaxf(rows[i], __shfl_xor_sync(~0u, rows[i], distance));
      }
    }
    return {{rows[0] * factor, rows[1] * factor}};
  }

  // P = 2^(S - base) as pairs of bf16; returns this thread's share of the row sums.
  __device__ Rows exponentiate(const Rows& base, uint32_t (&weight)[16]) const {
    Rows sum = {{0, 0}};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float low = exp2_approx(fmaf(score[2 * i], factor, -base[i % 2]));
      const float high = exp2_approx(fmaf(score[2 * i + 1], factor, -base[i % 2]));
      weight[i] = pack_bf16(low, high);
      sum[i % 2] += low + high;
    }
    return sum;
  }

  __device__ static Rows exp2(const Rows& x) {
    return {{exp2_approx(x[0]), exp2_approx(x[1])}};
  }
};

template <class Ring>
class Scores {
 public:
  using Rows = ScoreTile::Rows;

  // first_row: of the group, the workgroup's first.
  template <class Work>
  __device__ Scores(const DecodeParams& p,
                    const Work& work,
                    const Ring& ring,
                    const Weights& weights,
                    uint32_t queries,
                    int first_row)
      : ring_(ring),
        weights_(weights),
        queries_(panel_operand(queries)),
        blocks_(work.walk.count()),
        first_masked_(work.first_masked),
        scale_(p.softmax_scale * kLog2e) {
    const uint16_t* rows[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row + row_of_thread(i);
      attended_[i] = work.attended(p, 0, row);
      rows[i] = row < work.group.rows ? work.group.query(p, row) : nullptr;
    }
    load_register_panels(rows);
  }

  __device__ void run() {
    float score[32];
#pragma unroll 1
    for (int block = 0; block < blocks_; ++block) {
      issue(score);
      wait_products<0>();
      settle(score);
      ring_.release(Ring::unit(at_, true));
      at_.next_rope();
      soften(block, score);
    }
  }

  // Stores the LSE and passes the factors on that normalise the output.
  __device__ void finish(const ResultRows& results) {
    Rows factors;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float sum = quad_sum(state_.sum[i]);
      const bool empty = sum == 0.0f;
      factors[i] = empty ? 0.0f : 1.0f / sum;
      const float lse =
          empty ? -INFINITY : (state_.max[i] + log2_approx(sum)) * static_cast<float>(kLn2);
      if (threadIdx.x % 4 == 0) results.store_lse(row_of_thread(i), lse);
    }
    weights_.put_factors(blocks_, factors);
  }

 private:
  // The scores are the first warpgroup's: warpgroup_row() without its remainder.
  __device__ static int row_of_thread(int i) {
    return threadIdx.x / 32 * 16 + fragment_row(i);
  }

  // rows: null where the group has none.
  __device__ void load_register_panels(const uint16_t* const (&rows)[2]) {
    pairs_odd(rows[0]) || pairs_odd(rows[1]) ? load_pairs<false>(rows) : load_pairs<true>(rows);
  }

  template <bool kAligned>
  __device__ void load_pairs(const uint16_t* const (&rows)[2]) {
    const int first = kQueryPanels * kPanelColumns + threadIdx.x % 4 * 2;
#pragma unroll
    for (int step = 0; step < 4 * kRegisterPanels; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        query_[step][i] = load_pair<kAligned>(rows[i % 2], first + step * 16 + i / 2 * 8);
      }
    }
  }

  // S += Q K^T of a panel's columns; keys: of the first of its unit.
  __device__ void multiply_panel(float (&score)[32], int panel, uint64_t keys, int of_unit) {
#pragma unroll
    for (int step = 0; step < 4; ++step) {  // 16 columns, 32 bytes
      const uint64_t key = keys + of_unit * (kPanelBytes >> 4) + 2 * step;
      const bool add = panel + step > 0;
      if (panel < kQueryPanels) {
        multiply_panels(score, queries_ + panel * (kPanelBytes >> 4) + 2 * step, key, add);
      } else {
        multiply_panels(score, query_[(panel - kQueryPanels) * 4 + step], key, add);
      }
    }
  }

  // Starts the products of the next block.
  __device__ void issue(float (&score)[32]) {
#pragma unroll
    for (int first = 0; first < kBlockPanels; first += kPairPanels) {
      const bool rope = first == kValuePanels;
      const int unit = Ring::unit(at_, rope);
      ring_.wait_full(unit, rope ? at_.rope.parity : at_.pair.parity);
      const uint64_t keys = ring_.operand(Ring::first_panel(unit));
      begin_products();
#pragma unroll
      for (int i = 0; i < (rope ? 1 : kPairPanels); ++i) multiply_panel(score, first + i, keys, i);
      if (!rope) at_.next_pair();
    }
    commit_products();
  }

  __device__ void soften(int block, float (&score)[32]) {
    ScoreTile tile = {score, scale_ > 0 ? scale_ : 1};
    if (!(scale_ > 0)) tile.scale(scale_);  // a maximum times it would be a minimum
    if (block >= first_masked_) {
      tile.mask({attended_[0] - block * kWideTileN, attended_[1] - block * kWideTileN});
    }
    Rows base;
    const Rows shrink = raise_max(tile, &state_, &base);
    weights_.put_factors(block, shrink);
    uint32_t weight[16];
    const Rows sum = tile.exponentiate(base, weight);
    weights_.put(block, weight);
#pragma unroll
    for (int i = 0; i < 2; ++i) state_.sum[i] = state_.sum[i] * shrink[i] + sum[i];
  }

  Ring ring_;
  Weights weights_;
  uint64_t queries_;  // the first of their panels as an operand
  int blocks_;
  int first_masked_;  // block of which some row attends to fewer than all
  int attended_[2];   // rows of the walk that the thread's query rows attend to
  float scale_;       // to units of log2
  PanelPosition at_;
  uint32_t query_[4 * kRegisterPanels][4];
  SoftmaxState<Rows> state_ = {{{-INFINITY, -INFINITY}}, {{0, 0}}};
};

}  // namespace mla::gpu
#endif

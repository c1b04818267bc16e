// SPDX-License-Identifier: MIT
// The scores of a wide workgroup's consumer: S = Q K^T of every second block, and their softmax.
#pragma once

#include "kernels/gpu/nv_panel_ring.cuh"
#include "kernels/gpu/nv_wide_exchange.cuh"
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
  __device__ Rows exponentiate(const Rows& base, uint32_t (&weight)[4][4]) const {
    Rows sum = {{0, 0}};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float low = exp2_approx(fmaf(score[2 * i], factor, -base[i % 2]));
      const float high = exp2_approx(fmaf(score[2 * i + 1], factor, -base[i % 2]));
      weight[i / 4][i % 4] = pack_bf16(low, high);
      sum[i % 2] += low + high;
    }
    return sum;
  }

  __device__ static Rows exp2(const Rows& x) {
    return {{exp2_approx(x[0]), exp2_approx(x[1])}};
  }
};

// The maxima that the other side passes on, for raise_max: of what was seen before and its block.
struct GivenMaxima {
  using Rows = ScoreTile::Rows;

  Rows max;

  __device__ Rows row_max() const { return max; }
  __device__ static Rows exp2(const Rows& x) { return ScoreTile::exp2(x); }
};

// A side's are those of the blocks of the stage of that number.
template <class Ring>
class Scores {
 public:
  using Rows = ScoreTile::Rows;

  // work: from the workgroup's first query row on.
  template <class Work>
  __device__ Scores(const DecodeParams& p, const Work& work, const Ring& ring, uint32_t queries)
      : ring_(ring),
        queries_(panel_operand(queries)),
        first_masked_(work.first_masked),
        scale_(p.softmax_scale * kLog2e) {
#pragma unroll
    for (int i = 0; i < 2; ++i) attended_[i] = work.attended(p, 0, warpgroup_row(i));
  }

  // The panels of the queries that stay in registers; `panel`: the first of them, where it waits in
  // shared memory.
  __device__ void load_queries(uint32_t panel) {
    const int lane = threadIdx.x % 32;
    const uint32_t row =
        panel + (threadIdx.x % kWarpgroupThreads / 32 * 16 + lane % 16) * kPanelRowBytes;
#pragma unroll
    for (int step = 0; step < kRegisterPanels * kPanelSteps; ++step) {
      const int place = 2 * (step % kPanelSteps) + lane / 16 ^ lane % 8;
      load_matrices(row + step / kPanelSteps * kPanelBytes + place * 16, query_[step]);
    }
  }

  // Starts the products of a side's block: a group.
  __device__ void start(int side, int block) {
    visit_units<Ring>(side, [&](int unit, int panel, int count) {
      ring_.wait_full(unit, Ring::parity(block));
      begin_products();
      const uint64_t keys = made_anew(ring_.operand(Ring::first_panel(unit)));
      const uint64_t queries = made_anew(queries_);
      for (int i = 0; i < count; ++i) {
        const int offset = i * (kPanelBytes >> 4);
        multiply_panel(panel + i, queries, keys + offset);
      }
    });
    commit_products();
  }
  // Once the products are done.
  __device__ void end(int side) {
    settle(score_);
    ring_.release(Ring::rope_unit(side));
  }

  // The factor by which older weights shrink, and in `base` what weigh() subtracts.
  __device__ Rows raise(int block, Rows* base) {
    ScoreTile tile = {score_, factor()};
    if (!(scale_ > 0)) tile.scale(scale_);  // a maximum times it would be a minimum
    if (block >= first_masked_) {
      tile.mask({attended_[0] - block * kWideTileN, attended_[1] - block * kWideTileN});
    }
    return shrink_sums(raise_max(tile, &state_, base));
  }
  // The same for a block of the other side.
  __device__ Rows raise_to(const Rows& max) {
    GivenMaxima given = {max};
    Rows base;
    return shrink_sums(raise_max(given, &state_, &base));
  }
  __device__ void weigh(const Rows& base, uint32_t (&weight)[4][4]) {
    const Rows sum = ScoreTile{score_, factor()}.exponentiate(base, weight);
#pragma unroll
    for (int i = 0; i < 2; ++i) state_.sum[i] += sum[i];
  }

  __device__ const Rows& maxima() const {
    return state_.max;
  }
  // Of this side's blocks; of the thread's rows.
  __device__ Rows sums() const {
    return {{quad_sum(state_.sum[0]), quad_sum(state_.sum[1])}};
  }

 private:
  static constexpr int kPanelSteps = kPanelColumns / 16;  // products, of 32 bytes of a row each

  __device__ float factor() const {
    return scale_ > 0 ? scale_ : 1;
  }

  __device__ Rows shrink_sums(const Rows& shrink) {
#pragma unroll
    for (int i = 0; i < 2; ++i) state_.sum[i] *= shrink[i];
    return shrink;
  }

  // The last panel comes first: S = Q K^T of its columns, then S += that of others.
  __device__ void multiply_panel(int panel, uint64_t queries, uint64_t keys) {
#pragma unroll
    for (int step = 0; step < kPanelSteps; ++step) {
      if (panel >= kQueryPanels) {
        const bool add = panel != kBlockPanels - 1 || step > 0;
        multiply_panels(
            score_, query_[(panel - kQueryPanels) * kPanelSteps + step], keys + 2 * step, add);
      } else {
        const int offset = panel * (kPanelBytes >> 4) + 2 * step;
        multiply_panels(score_, queries + offset, keys + 2 * step, true);
      }
    }
  }

  Ring ring_;
  uint64_t queries_;  // the first of their panels as an operand
  int first_masked_;  // block of which some row attends to fewer than all
  int attended_[2];   // rows of the walk that the thread's query rows attend to
  float scale_;       // to units of log2
  uint32_t query_[kRegisterPanels * kPanelSteps][4];
  float score_[32];
  SoftmaxState<Rows> state_ = {{{-INFINITY, -INFINITY}}, {{0, 0}}};
};

}  // namespace mla::gpu
#endif

// SPDX-License-Identifier: MIT
// The score warpgroup of a wide workgroup: S = Q K^T of a block, softmax, and the weights for the
// value warpgroups. While it works on the softmax of a block, the first products of the next one
// run.
#pragma once

#include "kernels/gpu/nv_panel_ring.cuh"
#include "kernels/gpu/nv_weights.cuh"
#include "kernels/stage1.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

// The scores of a block for update_softmax (stage1.h); rows lane / 4 and lane / 4 + 8 of the
// warp's.
struct ScoreTile {
  struct Rows {
    static constexpr int kCount = 2;
    float value[kCount];
    __host__ __device__ float& operator[](int i) { return value[i]; }
    __host__ __device__ const float& operator[](int i) const { return value[i]; }
  };

  float (&score)[32];

  __device__ void scale(float factor) {
#pragma unroll
    for (int i = 0; i < 32; ++i) score[i] *= factor;
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
    Rows max = {{score[0], score[2]}};
#pragma unroll
    for (int i = 1; i < 32; ++i) max[i / 2 % 2] = fmaxf(max[i / 2 % 2], score[i]);
#pragma unroll
    for (int i = 0; i < 2; ++i) {  // the four lanes of a row
      max[i] = fmaxf(max[i], __shfl_xor_sync(~0u, max[i], 1));
      max[i] = fmaxf(max[i], __shfl_xor_sync(~0u, max[i], 2));
    }
    return max;
  }

  // P = 2^(S - base); returns this thread's share of the row sums.
  __device__ Rows exponentiate(const Rows& base) {
    Rows sum = {{0, 0}};
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      score[i] = exp2_approx(score[i] - base[i / 2 % 2]);
      sum[i / 2 % 2] += score[i];
    }
    return sum;
  }

  __device__ static Rows exp2(const Rows& x) {
    return {{exp2_approx(x[0]), exp2_approx(x[1])}};
  }
};

template <class Ring, class Work>
class Scores {
 public:
  using Rows = ScoreTile::Rows;

  // first_row: of the group, the workgroup's first.
  __device__ Scores(const DecodeParams& p,
                    const Work& work,
                    const Ring& ring,
                    const Weights& weights,
                    uint32_t queries,
                    int first_row)
      : p_(p),
        work_(work),
        ring_(ring),
        weights_(weights),
        queries_(queries),
        first_row_(first_row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) {
    load_register_panels();
  }

  // kEarly: panels of the next block whose products are issued before the softmax of this one.
  template <int kEarly>
  __device__ void run() {
    float even[32], odd[32];
    const int blocks = work_.walk.count();
    if (blocks == 0) return;
    issue<0, kBlockPanels>(even);
    int block = 0;
    while (step<kEarly>(block, blocks, even, odd) && step<kEarly>(block + 1, blocks, odd, even)) {
      block += 2;
    }
  }

  // Stores the LSE and passes the factors on that normalise the output.
  __device__ void finish(const KernelConfig& config) {
    const WorkspaceView partials(
        p_.workspace, int64_t{p_.batch} * p_.q_len * p_.nhead, config.splits);
    Rows factors;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float sum = state_.sum[i];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      const bool empty = sum == 0.0f;
      factors[i] = empty ? 0.0f : 1.0f / sum;
      const float lse =
          empty ? -INFINITY : (state_.max[i] + log2_approx(sum)) * static_cast<float>(kLn2);
      if (!present(i) || threadIdx.x % 4 != 0) continue;
      const int64_t row = work_.group.output_row(p_, row_of_group(i));
      if (!work_.unsplit) {
        *partials.lse(row, work_.split) = lse;
      } else if (p_.lse != nullptr) {
        p_.lse[row] = lse;
      }
    }
    weights_.put_factors(factors);
  }

 private:
  // A new maximum below the old one times 2^8 leaves the old one in use: weights up to 256 are as
  // exact, and the output is rarely rescaled.
  static constexpr float kMaxSlack = 8;

  __device__ int row_of_group(int i) const {
    return first_row_ + 8 * i;
  }
  __device__ bool present(int i) const {
    return row_of_group(i) < work_.group.rows;
  }

  __device__ void load_register_panels() {
    const uint16_t* rows[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      rows[i] = present(i) ? work_.group.query(p_, row_of_group(i)) : nullptr;
    }
#pragma unroll
    for (int step = 0; step < 4 * kRegisterPanels; ++step) {
      const int column = kQueryPanels * kPanelColumns + step * 16 + threadIdx.x % 4 * 2;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint16_t* row = rows[i % 2];
        const uint16_t* pair = row + column + i / 2 * 8;
        query_[step][i] = row == nullptr ? 0 : pair[0] | uint32_t{pair[1]} << 16;
      }
    }
  }

  // Starts the products of panels kFirst..kLast - 1 of the next block.
  template <int kFirst, int kLast>
  __device__ void issue(float (&score)[32]) {
#pragma unroll
    for (int panel = kFirst; panel < kLast; ++panel) {
      const bool rope = panel == kValuePanels;
      const int slot =
          rope ? Ring::rope_slot(at_.rope) : Ring::half_slot(at_.half) + panel % kHalfPanels;
      ring_.wait_full(slot, rope ? at_.rope.parity : at_.half.parity);
      const uint64_t keys = panel_operand(ring_.panel(slot));
      begin_products();
#pragma unroll
      for (int step = 0; step < 4; ++step) {  // 16 columns, 32 bytes
        const bool add = panel + step > 0;
        if (panel < kQueryPanels) {
          const uint64_t query = panel_operand(queries_ + panel * kPanelBytes);
          multiply_panels(score, query + 2 * step, keys + 2 * step, add);
        } else {
          multiply_panels(score, query_[(panel - kQueryPanels) * 4 + step], keys + 2 * step, add);
        }
      }
      if (!rope && panel % kHalfPanels == kHalfPanels - 1) at_.next_half();
    }
    if (kFirst < kLast) commit_products();
  }

  // Whether there is a block after this one; its products are under way then.
  template <int kEarly>
  __device__ bool step(int block, int blocks, float (&score)[32], float (&next)[32]) {
    wait_products<0>();
    settle(score);
    ring_.release_rope(at_.rope);
    at_.next_rope();
    if (block + 1 == blocks) {
      soften(block, score);
      return false;
    }
    issue<0, kEarly>(next);
    soften(block, score);
    issue<kEarly, kBlockPanels>(next);
    return true;
  }

  __device__ void soften(int block, float (&score)[32]) {
    constexpr float kLog2e = 1.44269504f;
    ScoreTile tile = {score};
    tile.scale(p_.softmax_scale * kLog2e);
    if (work_.is_masked(block)) {
      tile.mask(
          {work_.attended(p_, block, row_of_group(0)), work_.attended(p_, block, row_of_group(1))});
    }
    const Rows shrink = update_softmax(tile, &state_, kMaxSlack);
    weights_.put(score, shrink);
  }

  const DecodeParams& p_;
  const Work& work_;
  Ring ring_;
  Weights weights_;
  uint32_t queries_;
  int first_row_;  // of this thread, in the group
  PanelPosition at_;
  uint32_t query_[4 * kRegisterPanels][4];
  SoftmaxState<Rows> state_ = {{{-INFINITY, -INFINITY}}, {{0, 0}}};
};

}  // namespace mla::gpu
#endif

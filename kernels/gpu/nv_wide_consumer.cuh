// SPDX-License-Identifier: MIT
// The two consumers of a wide workgroup. Each keeps half of the 64 x 512 output. The first makes
// the scores of even blocks, the second those of odd ones; the weights of a block go to both
// halves. So while one side works out its weights, the other one multiplies.
#pragma once

#include "kernels/gpu/nv_wide_output.cuh"
#include "kernels/gpu/nv_wide_scores.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

template <class Ring, int kSide>
class WideConsumer {
 public:
  using Rows = FragmentRows;

  // work: from the workgroup's first query row on.
  template <class Work>
  __device__ WideConsumer(const DecodeParams& p,
                          const Work& work,
                          const Ring& ring,
                          const Exchange& exchange,
                          uint32_t queries)
      : walk_(work.walk),
        blocks_(work.walk.count()),
        ring_(ring),
        exchange_(exchange),
        scores_(p, work, ring, queries),
        output_(ring) {}

  __device__ void run() {
    kSide == 0 ? run_first() : run_second();
  }

  __device__ void finish(const ResultRows& results) {
    const Rows sum = exchange_.add_sums(kSide, scores_.sums());
    const Rows& max = scores_.maxima();
    Rows factors;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool empty = sum[i] == 0.0f;
      factors[i] = empty ? 0.0f : 1.0f / sum[i];
      const float lse = empty ? -INFINITY : (max[i] + log2_approx(sum[i])) * static_cast<float>(kLn2);
      if (kSide == 0 && threadIdx.x % 4 == 0) results.store_lse(warpgroup_row(i), lse);
    }
    output_.store(results, factors);
  }

 private:
  // Products that are under way at the end of a loop's body are so at every begin of it: what ends
  // a walk is outside. Otherwise the compiler lets none be under way at all.

  __device__ void run_first() {
    if (blocks_ == 0) return;
    scores_.start(0);
#pragma unroll 1
    for (int block = 0;; block += 2) {
      wait_products<0>();
      multiply_own(block, [] {});
      release_own(block);
      if (block + 1 == blocks_) return;
      multiply_other(block + 1);
      release_other(block + 1);
      if (block + 2 == blocks_) return;
      scores_.start(block + 2);
    }
  }

  // Works out the weights of its own block while that of the other side is multiplied.
  __device__ void run_second() {
    if (blocks_ == 0) return;
    int block = 0;  // of the other side
    if (blocks_ > 1) {
      scores_.start(1);
#pragma unroll 1
      for (;; block += 2) {
        wait_products<0>();
        multiply_other(block);
        multiply_own(block + 1, [&] { release_other(block); });
        release_own(block + 1);
        if (block + 3 >= blocks_) break;
        scores_.start(block + 3);
      }
      block += 2;
      if (block == blocks_) return;
    }
    multiply_other(block);
    release_other(block);
  }

  // Where this side's half of a block is.
  __device__ static RingPosition half_of_own(int block) { return Ring::half(2 * block); }
  __device__ static RingPosition half_of_other(int block) { return Ring::half(2 * block + 1); }

  __device__ void release_own(int block) {
    wait_products<0>();
    output_.release(half_of_own(block).slot);
  }
  __device__ void release_other(int block) {
    wait_products<0>();
    output_.release(half_of_other(block).slot);
    ring_.release(Ring::rope_unit(Ring::rope(block).slot));
  }

  // The key panel of a block, then its weights.
  __device__ uint32_t rope_panel(int block) const {
    return ring_.panel(Ring::first_panel(Ring::rope_unit(Ring::rope(block).slot)));
  }

  // Once the scores are there: their softmax, and the products of weights and values. `before`:
  // to be done ahead of these.
  template <class Before>
  __device__ void multiply_own(int block, Before before) {
    scores_.end();
    Rows base;
    const Rows shrink = scores_.raise(block, &base);
    exchange_.put_maxima(kSide, scores_.maxima());
    uint32_t weight[4][4];
    scores_.weigh(base, weight);
    before();
    output_.shrink(shrink);
    const RingPosition at = half_of_own(block);
    output_.wait_values(at, walk_.rows(block));
    output_.multiply(at.slot, weight);
    exchange_.put_weights(kSide, rope_panel(block), weight);
  }

  __device__ void multiply_other(int block) {
    constexpr int kOther = 1 - kSide;
    const uint32_t parity = block / 2 % 2;
    output_.shrink(scores_.raise_to(exchange_.take_maxima(kOther, parity)));
    exchange_.wait_weights(kOther, parity);
    const RingPosition at = half_of_other(block);
    output_.wait_values(at, walk_.rows(block));
    output_.multiply(at.slot, rope_panel(block));
  }

  Walk<kWideTileN> walk_;
  int blocks_;
  Ring ring_;
  Exchange exchange_;
  Scores<Ring, kSide> scores_;
  OutputHalf<Ring, kSide> output_;
};

}  // namespace mla::gpu
#endif

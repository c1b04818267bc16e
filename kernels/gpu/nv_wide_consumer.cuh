// SPDX-License-Identifier: MIT
// The two consumers of a wide workgroup. Each keeps half of the 64 x 512 output. The first makes
// the scores of even blocks, the second those of odd ones; the weights of a block go to both
// halves. So while one side works out its weights, the other one multiplies.
#pragma once

#include "kernels/gpu/nv_wide_output.cuh"
#include "kernels/gpu/nv_wide_scores.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace mla::gpu {

template <class Ring>
class WideConsumer {
 public:
  using Rows = FragmentRows;

  // work: from the workgroup's first query row on.
  template <class Work>
  __device__ WideConsumer(const DecodeParams& p,
                          const Work& work,
                          const Ring& ring,
                          const Exchange& exchange)
      : walk_(work.walk),
        blocks_(work.walk.count()),
        exchange_(exchange),
        scores_(p, work, ring, exchange.queries()),
        output_(ring) {}

  // Until the queries are where products take them from.
  __device__ void wait_queries(int side) {
    exchange_.wait_queries();
    scores_.load_queries(exchange_.register_panels());
    exchange_.release_weights(1 - side);
  }

  template <int kSide>
  __device__ void run() {
    if (blocks_ == 0) return;
    kSide == 0 ? run_first() : run_second();
  }

  __device__ void finish(int side, const ResultRows& results) {
    const Rows sum = exchange_.add_sums(side, scores_.sums());
    const Rows& max = scores_.maxima();
    Rows factors;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool empty = sum[i] == 0.0f;
      factors[i] = empty ? 0.0f : 1.0f / sum[i];
      const float lse =
          empty ? -INFINITY : (max[i] + log2_approx(sum[i])) * static_cast<float>(kLn2);
      if (side == 0 && threadIdx.x % 4 == 0) results.store_lse(warpgroup_row(i), lse);
    }
    output_.store(side, results, factors);
  }

 private:
  // Products that are under way at the end of a loop's body are so at every begin of it: what ends
  // a walk is outside. Otherwise the compiler lets none be under way at all.

  // The scores of the next own block come last: its rows take the places of those that are released
  // first.
  __device__ void run_first() {
    scores_.start(0, 0);
#pragma unroll 1
    for (int block = 0;; block += 2) {
      wait_products<0>();
      multiply_own<0>(block, [] {});
      release_own<0>();
      if (block + 1 == blocks_) return;
      multiply_other<0>(block + 1);
      release_other<0>();
      if (block + 2 == blocks_) return;
      scores_.start(0, block + 2);
    }
  }

  // Works out the weights of its own block while that of the other side is multiplied.
  __device__ void run_second() {
    int block = 0;  // of the other side
    if (blocks_ > 1) {
      scores_.start(1, 1);
#pragma unroll 1
      for (;; block += 2) {
        wait_products<0>();
        multiply_other<1>(block);
        multiply_own<1>(block + 1, [&] { release_other<1>(); });
        release_own<1>();
        if (block + 3 >= blocks_) break;
        scores_.start(1, block + 3);
      }
      block += 2;
      if (block == blocks_) return;
    }
    multiply_other<1>(block);
    release_other<1>();
  }

  template <int kSide>
  __device__ void release_own() {
    wait_products<0>();
    output_.release(kSide, kSide);
  }
  template <int kSide>
  __device__ void release_other() {
    wait_products<0>();
    output_.release(kSide, 1 - kSide);
    exchange_.release_weights(1 - kSide);
  }

  // Once the scores are there: their softmax, and the products of weights and values. `before`:
  // to be done ahead of these.
  template <int kSide, class Before>
  __device__ void multiply_own(int block, Before before) {
    scores_.end(kSide);
    Rows base;
    const Rows shrink = scores_.raise(block, &base);
    exchange_.put_maxima(kSide, scores_.maxima());
    uint32_t weight[4][4];
    scores_.weigh(base, weight);
    before();
    output_.shrink(shrink);
    output_.wait_values(kSide, kSide, Ring::parity(block), walk_.rows(block));
    output_.multiply(kSide, kSide, weight);
    exchange_.put_weights(kSide, Ring::parity(block), weight);
  }

  template <int kSide>
  __device__ void multiply_other(int block) {
    constexpr int kOther = 1 - kSide;
    const uint32_t parity = Ring::parity(block);
    output_.shrink(scores_.raise_to(exchange_.take_maxima(kOther, parity)));
    const uint32_t weights = exchange_.take_weights(kOther, parity);
    output_.wait_values(kSide, kOther, parity, walk_.rows(block));
    output_.multiply(kSide, kOther, weights);
  }

  Walk<kWideTileN> walk_;
  int blocks_;
  Exchange exchange_;
  Scores<Ring> scores_;
  OutputHalf<Ring> output_;
};

}  // namespace mla::gpu
#endif

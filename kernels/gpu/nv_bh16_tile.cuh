// SPDX-License-Identifier: MIT
// The tile operations of a team of four warps over mma.sync m16n8k16: 16 rows of queries against
// kTileN cached rows in shared memory.
//   scores   each warp multiplies a quarter of the 576 columns, its queries in registers: 128 of
//            the latent ones and 16 others; partial sums are added through shared memory, so that
//            every warp holds all scores
//   output   each warp owns the same 128 of the 512 columns for all 16 rows
// A KV row is read from memory once: the K tile is the V tile.
#pragma once

#include "kernels/bh16_layout.h"
#include "kernels/gpu/nv_fragment.cuh"
#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/gpu/nv_score_exchange.cuh"

namespace mla::gpu {

inline constexpr int kQuarterColumns = kHeadDim / kWarpsPerTeam;  // 144 of Q K^T
inline constexpr int kOwnColumns = kValueDim / kWarpsPerTeam;     // 128 of the output

template <int kTileN>
class Bh16Tile {
 public:
  static constexpr int kBlockRows = kTileN;
  static constexpr KvDtype kKvDtype = KvDtype::kBf16;
  static constexpr int kScoreTiles = kTileN / 8;        // m16n8 tiles of the scores
  static constexpr int kOutputTiles = kOwnColumns / 8;  // m16n8 tiles of the output
  static constexpr int kSteps = kQuarterColumns / 16;   // products along the columns
  // Independent sums of a score tile: two tiles alone would leave the products waiting for each
  // other.
  static constexpr int kChains = kTileN == 16 ? 2 : 1;

  using Rows = FragmentRows;
  using Exchange = ScoreExchange<kScoreTiles>;

  // team_exchange: see ScoreExchange.
  __device__ Bh16Tile(float4* team_exchange, int barrier_id)
      : exchange_(team_exchange, barrier_id) {}

  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32 % kWarpsPerTeam; }
  __device__ static int row_index(int i) { return fragment_row(i); }
  __device__ static int first_column() { return warp() * kOwnColumns; }

  // O = 0, and the queries of the group; query[i]: row row_index(i), null behind its end. Of each
  // 16 columns a lane has two pairs: from its number in the row times kLaneColumns on, the second
  // one kNextColumns further.
  template <int kLaneColumns = 2, int kNextColumns = 8>
  __device__ void load_queries(const uint16_t* const (&query)[2]) {
    pairs_odd(query[0]) || pairs_odd(query[1])
        ? load_pairs<false, kLaneColumns, kNextColumns>(query)
        : load_pairs<true, kLaneColumns, kNextColumns>(query);
#pragma unroll
    for (int t = 0; t < kOutputTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) output_[t][i] = 0;
    }
  }

  // S = scale * Q K^T of the block in `stage`, in three steps between which S is still that of the
  // block before; with team barriers in the second and third.
  __device__ void begin_scores(uint32_t stage) {
    float partial[kChains][kScoreTiles][4] = {};
    // Matrices 0, 1: rows 0..7, columns 0..7 and 8..15 of the step; 2, 3: rows 8..15.
    const uint32_t rows = stage + (lane() / 16 * 8 + lane() % 8) * kRowBytes;
    const int odd = lane() / 8 % 2;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int t = 0; t < kScoreTiles; t += 2) {
        uint32_t k[4];
        load_matrices(rows + t * 8 * kRowBytes + place(score_column(step), odd), k);
        multiply_add(partial[step % kChains][t], query_[step], k[0], k[1]);
        multiply_add(partial[step % kChains][t + 1], query_[step], k[2], k[3]);
      }
    }
    if constexpr (kChains == 2) {
#pragma unroll
      for (int t = 0; t < kScoreTiles; ++t) {
#pragma unroll
        for (int i = 0; i < 4; ++i) partial[0][t][i] += partial[1][t][i];
      }
    }
    exchange_.put(partial[0]);
  }
  __device__ void add_scores(float scale) {
    exchange_.add({scale, scale});
  }
  __device__ void end_scores(float scale) {
    exchange_.take({scale, scale}, score_);
  }

  // S = -inf behind the rows of the block that a row of the group attends to.
  template <class Attended>
  __device__ void mask(Attended attended) {
    const int rows[2] = {attended(row_index(0)), attended(row_index(1))};
#pragma unroll
    for (int t = 0; t < kScoreTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (t * 8 + lane() % 4 * 2 + i % 2 >= rows[i / 2]) score_[t][i] = -INFINITY;
      }
    }
  }

  __device__ Rows row_max() const {
    Rows max = {{-INFINITY, -INFINITY}};
#pragma unroll
    for (int t = 0; t < kScoreTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) max[i / 2] = fmaxf(max[i / 2], score_[t][i]);
    }
    for (int i = 0; i < 2; ++i) max[i] = quad_max(max[i]);
    return max;
  }

  // P = 2^(S - base); returns this thread's share of the row sums (see total).
  __device__ Rows exponentiate(const Rows& base) {
    Rows sum = {{0, 0}};
#pragma unroll
    for (int t = 0; t < kScoreTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        score_[t][i] = exp2_approx(score_[t][i] - base[i / 2]);
        sum[i / 2] += score_[t][i];
      }
    }
    return sum;
  }

  // O = shrink * O + P V.
  __device__ void accumulate(uint32_t stage, const Rows& shrink) {
    if (__any_sync(~0u, shrink[0] != 1.0f || shrink[1] != 1.0f)) rescale(shrink);
    // Matrices 0, 1: rows 0..7 and 8..15, columns 0..7; 2, 3: columns 8..15.
    const uint32_t rows = stage + lane() % 16 * kRowBytes;
    const int odd = lane() / 16;
#pragma unroll
    for (int step = 0; step < kTileN / 16; ++step) {
      const float(&low)[4] = score_[2 * step];
      const float(&high)[4] = score_[2 * step + 1];
      const uint32_t weights[4] = {pack_bf16(low[0], low[1]),
                                   pack_bf16(low[2], low[3]),
                                   pack_bf16(high[0], high[1]),
                                   pack_bf16(high[2], high[3])};
#pragma unroll
      for (int t = 0; t < kOutputTiles; t += 2) {
        uint32_t v[4];
        load_matrices_transposed(rows + step * 16 * kRowBytes + place(first_column() + t * 8, odd),
                                 v);
        multiply_add(output_[t], weights, v[0], v[1]);
        multiply_add(output_[t + 1], weights, v[2], v[3]);
      }
    }
  }

  __device__ static Rows exp2(const Rows& x) {
    return {{exp2_approx(x[0]), exp2_approx(x[1])}};
  }

  // The row sums of the four lanes of a row.
  __device__ static Rows total(const Rows& sum) {
    return {{quad_sum(sum[0]), quad_sum(sum[1])}};
  }

  __device__ void rescale(const Rows& factor) {
#pragma unroll
    for (int t = 0; t < kOutputTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) output_[t][i] *= factor[i / 2];
    }
  }

  // Two sides merge in halves of their first kTiles tiles: each keeps one (`half`), moved to the
  // front, and hands the other over: place t * kTeamThreads of the buffer has its tile t.
  template <int kTiles>
  __device__ void hand_over(int half, float4* buffer) {
    constexpr int kHalf = kTiles / 2;
#pragma unroll
    for (int t = 0; t < kHalf; ++t) {
      float other[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float low = output_[t][i], high = output_[kHalf + t][i];
        output_[t][i] = half == 0 ? low : high;
        other[i] = half == 0 ? high : low;
      }
      buffer[t * kTeamThreads] = make_float4(other[0], other[1], other[2], other[3]);
    }
  }

  // O = own * O + others * (what was handed over), of the half that was kept. `read`: the float4 at
  // a place of the buffer.
  template <int kTiles, class Read>
  __device__ void take_over(Read read, const Rows& own, const Rows& others) {
#pragma unroll
    for (int t = 0; t < kTiles / 2; ++t) {
      const float4 other = read(t * kTeamThreads);
      output_[t][0] = own[0] * output_[t][0] + others[0] * other.x;
      output_[t][1] = own[0] * output_[t][1] + others[0] * other.y;
      output_[t][2] = own[1] * output_[t][2] + others[1] * other.z;
      output_[t][3] = own[1] * output_[t][3] + others[1] * other.w;
    }
  }

  // The first kTiles tiles of row row_index(i) of O, times scale, from `column` on: as bf16 or as
  // fp32. The four lanes of a row call it together; nothing is stored to null.
  template <int kTiles>
  __device__ void store(int i, float scale, int column, uint16_t* row) const {
    if (row == nullptr) return;
    auto* target = reinterpret_cast<uint32_t*>(row + column + lane() % 4 * 2);
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      target[t * 4] = pack_bf16(output_[t][2 * i] * scale, output_[t][2 * i + 1] * scale);
    }
  }
  template <int kTiles>
  __device__ void store(int i, float scale, int column, float* row) const {
    auto* target = reinterpret_cast<float4*>(row + column + swapped_column());
#pragma unroll
    for (int t = 0; t < kTiles; t += 2) {
      const float4 value =
          swap_pairs({scale * output_[t][2 * i], scale * output_[t][2 * i + 1]},
                     {scale * output_[t + 1][2 * i], scale * output_[t + 1][2 * i + 1]});
      if (row != nullptr) target[t * 2] = value;
    }
  }

 protected:
  // First of the 16 columns of a step of the scores.
  __device__ static int score_column(int step) {
    return step < kOwnColumns / 16 ? first_column() + step * 16 : kValueDim + warp() * 16;
  }

  // Where this lane's row has columns `column`.. + 7, a multiple of 16, or the eight behind them
  // (`odd`). The row's number is lane % 8 but for a multiple of 8.
  __device__ static uint32_t place(int column, int odd) {
    const int line = column / 64;
    const int swap = ((lane() + line) % 8 ^ odd) * 16;
    return line * kLineBytes + (column % 64 * 2 ^ swap);
  }

  template <bool kAligned, int kLaneColumns, int kNextColumns>
  __device__ void load_pairs(const uint16_t* const (&query)[2]) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int column = score_column(step) + lane() % 4 * kLaneColumns;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        query_[step][i] = load_pair<kAligned>(query[i % 2], column + i / 2 * kNextColumns);
      }
    }
  }

  Exchange exchange_;
  uint32_t query_[kSteps][4];
  float score_[kScoreTiles][4];
  float output_[kOutputTiles][4];
};

}  // namespace mla::gpu

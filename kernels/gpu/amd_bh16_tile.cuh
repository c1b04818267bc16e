// SPDX-License-Identifier: MIT
// The tile operations of four waves over MFMA: 16 rows of queries against kTileN cached rows in
// LDS.
//   scores   each wave multiplies 16 tokens by its part of the 576 columns; the partial sums are
//            added through LDS, so that every wave holds all scores
//   output   each wave owns 128 of the 512 columns for all 16 rows
// Tokens are the rows of both products: D of K Q^T (lane: one head, 4 tokens) is laid out as the
// operand P of V^T P^T, so scores pass from one to the other in their registers.
#pragma once

#include "kernels/gpu/amd_ring.cuh"

namespace mla::gpu {

template <int kTileN>
class Bh16Tile {
 public:
  static constexpr int kGroupRows = 16;
  using Layout = StageLayout<kTileN>;
  static constexpr int kTokenTiles = kTileN / 16;
  // Of the contraction: halves of all panels, with four parts also of the panels. Nine panels do
  // not divide: both sides then read the middle one, and one of them multiplies it by zero.
  static constexpr int kParts = kStage1Waves / kTokenTiles;
  static constexpr int kHalves = kParts == 1 ? 2 : 1;                // of panels, by one wave
  static constexpr int kPanels = kParts == 4 ? 5 : Layout::kPanels;  // by one wave
  static constexpr int kSteps = kHalves * kPanels;                   // of 32 columns
  static constexpr int kOwnColumns = kValueDim / kStage1Waves;
  static constexpr int kOutputTiles = kOwnColumns / 16;
  // A lane's columns of the output: runs of neighbours.
  static constexpr int kRunColumns = kGfx950 ? 4 : 8;
  static constexpr int kRuns = 4 * kOutputTiles / kRunColumns;

  // What a lane holds of each query row: row lane % 16.
  struct Rows {
    static constexpr int kCount = 1;
    float value[kCount];
    __host__ __device__ constexpr float& operator[](int i) { return value[i]; }
    __host__ __device__ constexpr const float& operator[](int i) const { return value[i]; }
  };

  __device__ static int query_row() { return lane_index() % 16; }  // of the group
  __device__ static int quarter() { return lane_index() / 16; }    // which 4 tokens of 16
  __device__ static int run_column(int run) {
    return wave_index() * kOwnColumns +
           (kGfx950 ? run * 16 + quarter() * 4 : quarter() * 32 + run * 8);
  }

  // exchange: in LDS.
  __device__ explicit Bh16Tile(uint32_t exchange)
      : exchange_(exchange + lane_index() * 16),
        own_exchange_(exchange_ + wave_index() * kTileBytes) {
    const int row = wave_index() % kTokenTiles * 16 + query_row();
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      keys_[h] = first_panel() * Layout::kPanelBytes + Layout::row_offset(row) +
                 (key_chunk(h) ^ Layout::swizzle(row)) * 16;
    }
    const int panel = wave_index() * kOwnColumns / 64;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (kGfx950) {  // 16 lanes read 4 tokens, 4 columns a lane; i: 16 columns of 64
        const int token = quarter() * 4 + query_row() / 4;
        const int chunk = (i * 2 + query_row() % 4 / 2) ^ Layout::swizzle(token);
        values_[i] = panel * Layout::kPanelBytes + Layout::row_offset(token) + chunk * 16 +
                     query_row() % 2 * 8;
      } else {  // 16 lanes read one token, 8 columns a lane; i: the token
        const int token = quarter() * 4 + i;
        const int chunk = query_row() % 8 ^ Layout::swizzle(token);
        values_[i] = (panel + query_row() / 8) * Layout::kPanelBytes + Layout::row_offset(token) +
                     chunk * 16;
      }
    }
#pragma unroll
    for (int t = 0; t < kOutputTiles; ++t) output_[t] = Float4{0, 0, 0, 0};
  }

  // query: of this lane's head.
  __device__ void load_queries(const uint16_t* query) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const int panel = first_panel() + s % kPanels;
      const int column = panel * 64 + key_chunk(s / kPanels) * 8;
      __builtin_memcpy(&query_[s], query + column, sizeof query_[s]);
      if (s == 0 && kParts == 4 && first_panel() > 0) query_[s] = {};
    }
  }

  // S = scale * K Q^T of the block at `stage`; one barrier.
  __device__ void scores(uint32_t stage, float scale) {
    const Float4 partial = multiply_keys(stage) * scale;
    write_local(own_exchange_, partial);
    barrier();
    Float4 part[kStage1Waves];
    unrolled<kStage1Waves>([&](auto w) { read_local<w * kTileBytes>(exchange_, &part[w]); });
    wait_reads<0>();
#pragma unroll
    for (int w = 0; w < kStage1Waves; ++w) arrived(part[w]);
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
      score_[t] = part[t];
#pragma unroll
      for (int w = t + kTokenTiles; w < kStage1Waves; w += kTokenTiles) score_[t] += part[w];
    }
  }

  // S = -inf at the block's rows from `rows` on, those that this lane's row attends to.
  __device__ void mask(int rows) {
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (t * 16 + quarter() * 4 + i >= rows) score_[t][i] = -INFINITY;
      }
    }
  }

  __device__ Rows row_max() const {
    float max = -INFINITY;
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) max = fmaxf(max, score_[t][i]);
    }
    max = fmaxf(max, other_lane(max, 16));
    return {{fmaxf(max, other_lane(max, 32))}};
  }

  // P = 2^(S - base); returns this lane's share of the row sum (see total).
  __device__ Rows exponentiate(const Rows& base) {
    float sum = 0;
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        score_[t][i] = exp2_approx(score_[t][i] - base[0]);
        sum += score_[t][i];
      }
    }
    return {{sum}};
  }

  // O = shrink * O + V^T P^T of the block at `stage`.
  __device__ void accumulate(uint32_t stage, const Rows& shrink) {
    if (__builtin_amdgcn_ballot_w64(shrink[0] != 1.0f) != 0) {
#pragma unroll
      for (int t = 0; t < kOutputTiles; ++t) output_[t] *= shrink[0];
    }
    Bf16x4 weights[kTokenTiles];
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) weights[t] = __builtin_convertvector(score_[t], Bf16x4);
    if constexpr (kGfx950) {
      multiply_values_transposed(stage, weights);
    } else {
      multiply_values(stage, weights);
    }
  }

  __device__ static Rows exp2(const Rows& x) {
    return {{exp2_approx(x[0])}};
  }

  // The row sum of the four lanes of a head.
  __device__ static Rows total(Rows sum) {
    sum[0] += other_lane(sum[0], 16);
    sum[0] += other_lane(sum[0], 32);
    return sum;
  }

  // This lane's part of row query_row() of O, times scale.
  __device__ void store(float scale, uint16_t* row) const {
#pragma unroll
    for (int run = 0; run < kRuns; ++run) {
#pragma unroll
      for (int i = 0; i < kRunColumns; i += 4) {
        const auto rounded = __builtin_convertvector(four(run, i) * scale, Bf16x4);
        __builtin_memcpy(row + run_column(run) + i, &rounded, sizeof rounded);
      }
    }
  }
  __device__ void store(float scale, float* row) const {
#pragma unroll
    for (int run = 0; run < kRuns; ++run) {
#pragma unroll
      for (int i = 0; i < kRunColumns; i += 4) {
        *reinterpret_cast<Float4*>(row + run_column(run) + i) = four(run, i) * scale;
      }
    }
  }

 private:
  static constexpr int kTileBytes = 16 * 16 * 4;  // of scores

  __device__ static int part() {
    return wave_index() / kTokenTiles;
  }
  __device__ static int first_panel() {
    return part() / 2 * (Layout::kPanels - kPanels);
  }
  // Which 8 columns of a panel this lane multiplies. LDS serves 16 lanes at a time that are not
  // always neighbours; in this order of the quarters those do not meet in a bank either.
  __device__ static int key_chunk(int half) {
    return (kParts == 1 ? half : part() % 2) * 4 + quarter() % 2 * 2 + quarter() / 2;
  }

  // This wave's 16 tokens times its part of the contraction.
  __device__ Float4 multiply_keys(uint32_t stage) const {
    constexpr int kInFlight = kSteps < 8 ? kSteps : 8;
    Bf16x8 keys[kSteps];
    const auto read = [&](auto s) {
      read_local<s % kPanels * Layout::kPanelBytes>(stage + keys_[s / kPanels], &keys[s]);
    };
    unrolled<kInFlight>(read);
    Float4 sum = {0, 0, 0, 0};
    unrolled<kSteps>([&](auto s) {
      constexpr int kBehind = kSteps - 1 - s;
      wait_reads<(kBehind < kInFlight - 1 ? kBehind : kInFlight - 1)>();
      arrived(keys[s]);
      sum = multiply_add32(keys[s], query_[s], sum);
      keep_order();
      if constexpr (s + kInFlight < kSteps) read(Index<s + kInFlight>{});
    });
    return sum;
  }

  // Two tiles of tokens a product, or the only one.
  __device__ void multiply_values_transposed(uint32_t stage, const Bf16x4 (&weights)[kTokenTiles]) {
    constexpr int kWidth = kTokenTiles == 1 ? 1 : 2;
    constexpr int kProducts = kTokenTiles / kWidth * kOutputTiles;
    constexpr int kInFlight = 6;  // products whose reads are
    Bf16x4 values[kProducts][kWidth];
    const auto read = [&](auto i) {
      unrolled<kWidth>([&](auto half) {
        constexpr int kTile = i % kOutputTiles;
        constexpr int kToken = (i / kOutputTiles * kWidth + half) * 16;
        read_transposed<kToken * kLdsRowBytes + kTile / 4 * Layout::kPanelBytes>(
            stage + values_[kTile % 4], &values[i][half]);
      });
    };
    unrolled<kInFlight>(read);
    unrolled<kProducts>([&](auto i) {
      constexpr int kBehind = kProducts - 1 - i;
      wait_reads<kWidth*(kBehind < kInFlight - 1 ? kBehind : kInFlight - 1)>();
      unrolled<kWidth>([&](auto half) { arrived(values[i][half]); });
      constexpr int t = i / kOutputTiles * kWidth;
      Float4& output = output_[i % kOutputTiles];
      if constexpr (kWidth == 1) {
        output = multiply_add16(values[i][0], weights[t], output);
      } else {
        output = multiply_add32(
            joined(values[i][0], values[i][1]), joined(weights[t], weights[t + 1]), output);
      }
      keep_order();
      if constexpr (i + kInFlight < kProducts) read(Index<i + kInFlight>{});
    });
  }

  // One tile of tokens a product: 4 tokens of 8 columns, transposed in registers.
  __device__ void multiply_values(uint32_t stage, const Bf16x4 (&weights)[kTokenTiles]) {
    unrolled<kTokenTiles>([&](auto t) {
      Bf16x8 row[4];
      unrolled<4>([&](auto i) { read_local<t * 16 * kLdsRowBytes>(stage + values_[i], &row[i]); });
      wait_reads<0>();
#pragma unroll
      for (int i = 0; i < 4; ++i) arrived(row[i]);
#pragma unroll
      for (int j = 0; j < kOutputTiles; ++j) {
        const Bf16x4 column = {row[0][j], row[1][j], row[2][j], row[3][j]};
        output_[j] = multiply_add16(column, weights[t], output_[j]);
      }
    });
  }

  __device__ static Bf16x8 joined(Bf16x4 low, Bf16x4 high) {
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }

  // Columns i..i + 3 of a run.
  __device__ Float4 four(int run, int i) const {
    if constexpr (kGfx950) return output_[run];
    return Float4{output_[i][run], output_[i + 1][run], output_[i + 2][run], output_[i + 3][run]};
  }

  uint32_t exchange_;       // in LDS, of this lane
  uint32_t own_exchange_;   // and of this wave
  uint32_t keys_[kHalves];  // this lane's bytes within a stage
  uint32_t values_[4];
  Bf16x8 query_[kSteps];
  Float4 score_[kTokenTiles];
  Float4 output_[kOutputTiles];
};

}  // namespace mla::gpu

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
  static constexpr int kTokenTiles = kTileN / 16;
  static constexpr int kParts = kStage1Waves / kTokenTiles;        // of the contraction
  static constexpr int kLatentSteps = kLatentBytes / 64 / kParts;  // of 32 columns
  // Two steps are all there are: with four parts half of the waves have one of zero queries.
  static constexpr int kRopeSteps = kParts == 1 ? 2 : 1;
  static constexpr int kSteps = kLatentSteps + kRopeSteps;
  static constexpr int kOwnColumns = kValueDim / kStage1Waves;
  static constexpr int kOutputTiles = kOwnColumns / 16;
  // A lane's columns of the output: runs of neighbours.
  static constexpr int kRunColumns = kGfx950 ? 4 : 8;
  static constexpr int kRuns = 4 * kOutputTiles / kRunColumns;

  // What a lane holds of each query row: of head lane % 16.
  struct Rows {
    static constexpr int kCount = 1;
    float value[kCount];
    __host__ __device__ constexpr float& operator[](int i) { return value[i]; }
    __host__ __device__ constexpr const float& operator[](int i) const { return value[i]; }
  };

  __device__ static int head() { return lane_index() % 16; }
  __device__ static int quarter() { return lane_index() / 16; }  // which 4 tokens of 16
  __device__ static int run_column(int run) {
    return wave_index() * kOwnColumns +
           (kGfx950 ? run * 16 + quarter() * 4 : quarter() * 32 + run * 8);
  }

  // exchange: in LDS.
  __device__ Bh16Tile(uint32_t exchange) : exchange_(exchange) {
    const int row = token_tile() * 16 + local_row(head());
    latent_ = row * kLatentPitch + latent_column(part() * kLatentSteps);
#pragma unroll
    for (int s = 0; s < kRopeSteps; ++s) {
      const int chunk = rope_chunk(rope_step(s)) ^ rope_swizzle(row);
      rope_[s] = AmdLayout{kTileN, 1}.rope_offset() + row * kRopeBytes + chunk * 16;
    }
    // 16 lanes read 4 tokens by 4 columns a lane, or one token by 8 columns a lane.
    values_ = wave_index() * kOwnColumns * 2;
    values_ += kGfx950 ? local_row(quarter() * 4 + head() / 4) * kLatentPitch + head() % 4 * 8
                       : quarter() * 4 * kLatentPitch + head() * 16;
#pragma unroll
    for (int t = 0; t < kOutputTiles; ++t) output_[t] = Float4{0, 0, 0, 0};
  }

  // query: of this lane's head.
  __device__ void load_queries(const uint16_t* query) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const int rope = rope_step(s - kLatentSteps);
      const int byte = s < kLatentSteps ? latent_column(part() * kLatentSteps) + step_bytes(s)
                                        : kLatentBytes + rope_chunk(rope) * 16;
      __builtin_memcpy(&query_[s], query + byte / 2, sizeof query_[s]);
      if (s >= kLatentSteps && rope >= 2) query_[s] = {};
    }
  }

  // S = scale * K Q^T of the block at `stage`; one barrier.
  __device__ void scores(uint32_t stage, float scale) {
    const Float4 partial = multiply_keys(stage) * scale;
    const uint32_t own = exchange_ + lane_index() * 16;
    write_local(own + wave_index() * kTileBytes, partial);
    barrier();
    Float4 part[kStage1Waves];
    unrolled<kStage1Waves>([&](auto w) { read_local<w * kTileBytes>(own, &part[w]); });
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

  // S = -inf at the block's rows from `rows` on.
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
      multiply_values_transposed(stage + values_, weights);
    } else {
      multiply_values(stage + values_, weights);
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

  // This lane's part of row head() of O, times scale.
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

  __device__ static int token_tile() {
    return wave_index() % kTokenTiles;
  }
  __device__ static int part() {
    return wave_index() / kTokenTiles;
  }

  // Where this lane's 8 elements of a step of the contraction begin, in bytes of the latent part.
  // Lanes 0..15 and 16..31 read 256 bytes apart: LDS serves 16 lanes at a time that are not always
  // neighbours, and so all of them fall into different banks.
  __device__ static int latent_column(int step) {
    return step_bytes(step) + quarter() % 2 * 256 + quarter() / 2 * 16;
  }
  __device__ static constexpr int step_bytes(int step) {
    return step / 8 * 512 + step % 8 * 32;
  }

  // Of this wave; 2 and above have no columns.
  __device__ static int rope_step(int s) {
    return kParts == 1 ? s : part();
  }
  __device__ static int rope_chunk(int step) {
    return step % 2 * 4 + quarter() % 2 * 2 + quarter() / 2;
  }

  // This wave's 16 tokens times its part of the contraction.
  __device__ Float4 multiply_keys(uint32_t stage) const {
    constexpr int kInFlight = kSteps < 8 ? kSteps : 8;
    const uint32_t latent = stage + latent_;
    Bf16x8 keys[kSteps];
    const auto read = [&](auto s) {
      if constexpr (s < kLatentSteps) {
        read_local<step_bytes(s)>(latent, &keys[s]);
      } else {
        read_local<0>(stage + rope_[s - kLatentSteps], &keys[s]);
      }
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
  __device__ void multiply_values_transposed(uint32_t address,
                                             const Bf16x4 (&weights)[kTokenTiles]) {
    constexpr int kWidth = kTokenTiles == 1 ? 1 : 2;
    constexpr int kProducts = kTokenTiles / kWidth * kOutputTiles;
    constexpr int kInFlight = 6;  // products whose reads are
    Bf16x4 values[kProducts][kWidth];
    const auto read = [&](auto i) {
      unrolled<kWidth>([&](auto half) {
        constexpr int kToken = (i / kOutputTiles * kWidth + half) * 16;
        read_transposed<kToken * kLatentPitch + i % kOutputTiles * 32>(address, &values[i][half]);
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
  __device__ void multiply_values(uint32_t address, const Bf16x4 (&weights)[kTokenTiles]) {
    unrolled<kTokenTiles>([&](auto t) {
      Bf16x8 row[4];
      unrolled<4>([&](auto i) { read_local<(t * 16 + i) * kLatentPitch>(address, &row[i]); });
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

  uint32_t exchange_;
  uint32_t latent_;  // this lane's bytes within a stage
  uint32_t rope_[kRopeSteps];
  uint32_t values_;
  Bf16x8 query_[kSteps];
  Float4 score_[kTokenTiles];
  Float4 output_[kOutputTiles];
};

}  // namespace mla::gpu

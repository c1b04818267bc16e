// SPDX-License-Identifier: MIT
// Bh16Tile over fp8 rows: every e4m3 element is exactly one of f16, so rows are converted in
// registers, two elements an instruction, and both products are those of f16. Queries are scaled by
// a power of two a row, so that no bf16 number within 2^-29 of the row's largest loses a bit, and
// weights by 2^15, so that none down to 2^-29 of the largest does.
//
// What a lane gets of 16 bytes of a row is four neighbouring columns. Which columns a product's
// lanes call k does not matter for Q K^T as long as the queries agree; in P V a pair of bytes goes
// to two output tiles, and a lane ends up with four neighbouring columns of two tiles.
//
// Where registers are few, the queries of the last kSharedSteps steps lie in shared memory, and the
// scores of a block wait there while those of the next begin.
#pragma once

#include "kernels/gpu/nv_bh16_tile.cuh"

namespace mla::gpu {

template <int kTileN, int kSharedSteps = 0>
class Bh16Fp8Tile : public Bh16Tile<kTileN> {
  using Base = Bh16Tile<kTileN>;
  using Base::exchange_;
  using Base::output_;
  using Base::query_;
  using Base::score_;

 public:
  using Base::first_column;
  using Base::kOutputTiles;
  using Base::kScoreTiles;
  using Base::kSteps;
  using Base::lane;
  using typename Base::Rows;
  static constexpr KvDtype kKvDtype = KvDtype::kFp8;
  static constexpr float kWeightExponent = 15;  // the largest weight is 2^15
  static constexpr bool kLateScores = kSharedSteps > 0 && Base::Exchange::kShared;

  using Base::Base;

  // As Base's; by all warps of the team.
  __device__ void load_queries(const uint16_t* const (&query)[2]) {
    // Of 16 columns a lane has four neighbouring ones, where Base has two and two.
    Base::template load_queries<4, 2>(query);
    float top[2] = {0, 0};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float larger = fmaxf(fabsf(low(query_[step][i])), fabsf(high(query_[step][i])));
        top[i % 2] = fmaxf(top[i % 2], larger);
      }
    }
    float factor[2];
    for (int i = 0; i < 2; ++i) top[i] = quad_max(top[i]);
    exchange_.largest(top);
    for (int i = 0; i < 2; ++i) {
      // The largest query becomes 2^14 to 2^15. Of a float's exponent fields `exponent`, 268 -
      // exponent and exponent - 14 none is out of range.
      const unsigned exponent = max(__float_as_uint(top[i]) >> 23, 15u);
      factor[i] = __uint_as_float((268 - exponent) << 23);
      query_scale_[i] = __uint_as_float((exponent - 14) << 23);
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        uint32_t& pair = query_[step][i];
        pair = pack_f16(low(pair) * factor[i % 2], high(pair) * factor[i % 2]);
      }
    }
  }

  // The last kSharedSteps steps of the queries to `queries`, of a workgroup, by one of its teams
  // (`store`). The caller has a barrier between this and begin_scores.
  __device__ void share_queries(uint4* queries, bool store) {
    shared_queries_ = queries + threadIdx.x % kTeamThreads;
    if (!store) return;
#pragma unroll
    for (int i = 0; i < kSharedSteps; ++i) {
      const uint32_t(&query)[4] = query_[kSteps - kSharedSteps + i];
      shared_queries_[i * kTeamThreads] = make_uint4(query[0], query[1], query[2], query[3]);
    }
  }

  // S = scale * Q K^T of the block in `stage`, in the three steps of Base.
  __device__ void begin_scores(uint32_t stage) {
    float partial[kScoreTiles][4] = {};
    if constexpr (kTileN == 16) {
      score_16_rows(stage, partial);
    } else {
      // Matrix i: rows 8 i .. 8 i + 7 of 32.
      const uint32_t rows = stage + lane() * kFp8RowPitch;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int t = 0; t < kScoreTiles; t += 4) {
          uint32_t k[4];
          load_matrices(rows + t * 8 * kFp8RowPitch + Base::score_column(step), k);
#pragma unroll
          for (int i = 0; i < 4; ++i) multiply_keys(partial[t + i], step, k[i]);
        }
      }
    }
    exchange_.put(partial);
  }
  __device__ void add_scores(float scale) {
    exchange_.add({scale * query_scale_[0], scale * query_scale_[1]});
  }
  __device__ void end_scores(float scale) {
    exchange_.take({scale * query_scale_[0], scale * query_scale_[1]}, score_);
  }
  // end_scores of a block after begin_scores of the next one, if there is one (`next_begun`).
  __device__ void end_scores_late(bool next_begun) {
    exchange_.take_late(next_begun, score_);
  }

  // Less kWeightExponent, so that exponentiate's weights are 2^15 times as large, and so are their
  // sums and the output.
  __device__ Rows row_max() const {
    Rows max = Base::row_max();
    for (int i = 0; i < 2; ++i) max[i] -= kWeightExponent;
    return max;
  }

  // O = shrink * O + P V.
  __device__ void accumulate(uint32_t stage, const Rows& shrink) {
    if (__any_sync(~0u, shrink[0] != 1.0f || shrink[1] != 1.0f)) Base::rescale(shrink);
    // Matrices 0, 1: rows 0..7 and 8..15, columns 0..15; 2, 3: columns 16..31.
    const uint32_t rows = stage + lane() % 16 * kFp8RowPitch + first_column() + lane() / 16 * 16;
#pragma unroll
    for (int step = 0; step < kTileN / 16; ++step) {
      const float(&left)[4] = score_[2 * step];
      const float(&right)[4] = score_[2 * step + 1];
      const uint32_t weights[4] = {pack_f16(left[0], left[1]),
                                   pack_f16(left[2], left[3]),
                                   pack_f16(right[0], right[1]),
                                   pack_f16(right[2], right[3])};
#pragma unroll
      for (int t = 0; t < kOutputTiles; t += 4) {
        uint32_t v[4];
        load_matrices_transposed(rows + step * 16 * kFp8RowPitch + t * 8, v);
        multiply_values(t, weights, v[0], v[1]);
        multiply_values(t + 2, weights, v[2], v[3]);
      }
    }
  }

  // As Base's: of each 16 columns a lane has four neighbouring ones.
  template <int kTiles>
  __device__ void store(int i, float scale, int column, uint16_t* row) const {
    if (row == nullptr) return;
    auto* target = reinterpret_cast<uint2*>(row + column + lane() % 4 * 4);
#pragma unroll
    for (int t = 0; t < kTiles; t += 2) {
      const float4 value = columns(t, i, scale);
      target[t * 2] = make_uint2(pack_bf16(value.x, value.y), pack_bf16(value.z, value.w));
    }
  }
  template <int kTiles>
  __device__ void store(int i, float scale, int column, float* row) const {
    if (row == nullptr) return;
    auto* target = reinterpret_cast<float4*>(row + column + lane() % 4 * 4);
#pragma unroll
    for (int t = 0; t < kTiles; t += 2) target[t * 2] = columns(t, i, scale);
  }

 private:
  // Elements of a pair of bf16.
  __device__ static float low(uint32_t pair) {
    return __uint_as_float(pair << 16);
  }
  __device__ static float high(uint32_t pair) {
    return __uint_as_float(pair & 0xFFFF0000u);
  }

  // keys: four elements of a row, of which f16 makes a product's two operands.
  __device__ void multiply_keys(float (&sum)[4], int step, uint32_t keys) {
    uint32_t b0, b1;
    widen_fp8(keys, &b0, &b1);
    if (step < kSteps - kSharedSteps) {
      multiply_add_f16(sum, query_[step], b0, b1);
    } else {
      const uint4 query = shared_queries_[(step - (kSteps - kSharedSteps)) * kTeamThreads];
      multiply_add_f16(sum, {query.x, query.y, query.z, query.w}, b0, b1);
    }
  }

  // Tiles t and t + 1, of the even and the odd ones of 16 columns. upper, lower: two rows of two
  // columns, and the same 8 rows below.
  __device__ void multiply_values(int t,
                                  const uint32_t (&weights)[4],
                                  uint32_t upper,
                                  uint32_t lower) {
    constexpr unsigned kByColumn = 0x3120;
    uint32_t even[2], odd[2];
    widen_fp8(__byte_perm(upper, 0, kByColumn), &even[0], &odd[0]);
    widen_fp8(__byte_perm(lower, 0, kByColumn), &even[1], &odd[1]);
    multiply_add_f16(output_[t], weights, even[0], even[1]);
    multiply_add_f16(output_[t + 1], weights, odd[0], odd[1]);
  }

  // Matrices 0, 1: rows 0..7 and 8..15 of a step; 2, 3: of the step behind it. Two sums a tile: two
  // tiles alone would leave the products waiting for each other.
  __device__ void score_16_rows(uint32_t stage, float (&sum)[kScoreTiles][4]) {
    const uint32_t rows = stage + lane() % 16 * kFp8RowPitch;
    const uint32_t pairs = rows + lane() / 16 * 16;
    float other[kScoreTiles][4] = {};
    uint32_t k[4];
#pragma unroll
    for (int step = 0; step + 1 < kSteps; step += 2) {
      load_matrices(pairs + Base::score_column(step), k);
      multiply_keys(sum[0], step, k[0]);
      multiply_keys(sum[1], step, k[1]);
      multiply_keys(other[0], step + 1, k[2]);
      multiply_keys(other[1], step + 1, k[3]);
    }
    load_matrices(rows + Base::score_column(kSteps - 1), k);
    multiply_keys(sum[0], kSteps - 1, k[0]);
    multiply_keys(sum[1], kSteps - 1, k[1]);
#pragma unroll
    for (int t = 0; t < kScoreTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[t][i] += other[t][i];
    }
  }

  // This lane's four columns of tiles t and t + 1 in row row_index(i), times scale.
  __device__ float4 columns(int t, int i, float scale) const {
    return make_float4(scale * output_[t][2 * i],
                       scale * output_[t + 1][2 * i],
                       scale * output_[t][2 * i + 1],
                       scale * output_[t + 1][2 * i + 1]);
  }

  float query_scale_[2];  // what makes the rows' f16 queries the queries again
  uint4* shared_queries_ = nullptr;
};

// Of three teams.
template <int kTileN>
using Bh16Fp8LeanTile = Bh16Fp8Tile<kTileN, kSharedQuerySteps>;

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Tile operations on AVX512-BF16, which Highway 1.0.3 does not reach. The schemes are those of
// host_kernels.cpp with pairs in place of elements: pairs of columns in Q K^T, pairs of cached rows
// in P V.
//
// Softmax weights are rounded to bf16 for P V while their sum stays fp32: at most 2^-9 (2.0e-3)
// relative if every weight rounds the same way, beside the output's own rounding, and the LSE is
// not touched.
#include "kernels/host/host_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#ifndef __clang__
// GCC 12 warns about its own intrinsics' deliberately undefined operands (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>

// Per function, so that nothing in this file can run on a CPU without these sets.
#define MLA_AVX512_BF16 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma,avx2")))

namespace mla::host {
namespace {

constexpr int kLanes = 16;
constexpr int kScoreRows = 2;

static_assert(kRowStep % kScoreRows == 0 && kPanelRows == kLanes);

inline void prefetch(const uint16_t* address) {
  _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
}

// As exp2_vector of host_kernels.cpp.
MLA_AVX512_BF16 inline __m512 exp2_vector(__m512 x) {
  const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0f), _CMP_NLT_UQ);
  const __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(x, n);
  __m512 y = _mm512_set1_ps(1.5403530e-4f);
  y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(1.3333558e-3f));
  y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(9.6181291e-3f));
  y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(5.5504109e-2f));
  y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(2.4022651e-1f));
  y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(6.9314718e-1f));
  y = _mm512_fmadd_ps(y, f, _mm512_set1_ps(1.0f));
  return _mm512_maskz_scalef_ps(normal, y, n);
}

// The 128-bit parts of a and b, added in pairs: a0+a1, a2+a3, b0+b1, b2+b3.
MLA_AVX512_BF16 inline __m512 add_parts(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}

// Lane i of the result is the sum of the lanes of v[i]; lanes from kCount on are 0.
template <int kCount>
MLA_AVX512_BF16 inline __m512 sum_lanes(const __m512* v) {
  static_assert(kCount <= 16);
  // Within each 128-bit part, lane i of quads[q] is the sum of the part's lanes of v[4 * q + i].
  __m512 quads[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    __m512 in[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) in[i] = 4 * q + i < kCount ? v[4 * q + i] : _mm512_setzero_ps();
    const __m512 a =
        _mm512_add_ps(_mm512_unpacklo_ps(in[0], in[1]), _mm512_unpackhi_ps(in[0], in[1]));
    const __m512 b =
        _mm512_add_ps(_mm512_unpacklo_ps(in[2], in[3]), _mm512_unpackhi_ps(in[2], in[3]));
    quads[q] = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
  }
  return add_parts(add_parts(quads[0], quads[1]), add_parts(quads[2], quads[3]));
}

// Scores of kScoreRows cached rows against kHeads queries. A lane holds two columns, so that no
// lane is spent on a head that is not there.
template <int kHeads>
MLA_AVX512_BF16 void score_rows(const uint16_t* queries,
                                float scale,
                                const uint16_t* const* rows,
                                const uint16_t* const* upcoming,
                                int stride,
                                float* scores) {
  __m512 sum[kScoreRows][kHeads];
#pragma GCC unroll 2
  for (int i = 0; i < kScoreRows; ++i) {
#pragma GCC unroll 12
    for (int h = 0; h < kHeads; ++h) sum[i][h] = _mm512_setzero_ps();
  }
  for (int line = 0; line < kHeadDim; line += kLineElements) {
    __m512bh key[kScoreRows];
#pragma GCC unroll 2
    for (int i = 0; i < kScoreRows; ++i) {
      if (line < kScoreLines * kLineElements) prefetch(upcoming[i] + line);
      key[i] = (__m512bh)_mm512_loadu_si512(rows[i] + line);
    }
#pragma GCC unroll 12
    for (int h = 0; h < kHeads; ++h) {
      const auto query = (__m512bh)_mm512_load_si512(queries + h * kHeadDim + line);
#pragma GCC unroll 2
      for (int i = 0; i < kScoreRows; ++i) sum[i][h] = _mm512_dpbf16_ps(sum[i][h], query, key[i]);
    }
  }
  constexpr auto kStored = static_cast<__mmask16>((1u << kHeads) - 1);
#pragma GCC unroll 2
  for (int i = 0; i < kScoreRows; ++i) {
    const __m512 score = _mm512_mul_ps(sum_lanes<kHeads>(sum[i]), _mm512_set1_ps(scale));
    _mm512_mask_storeu_ps(scores + i * stride, kStored, score);
  }
}

// O[h] = shrink[h] * O[h] + sum over n of P[n][h] * V[n] for kHeads heads, two cached rows at a
// time: the columns of both are interleaved to pairs.
template <int kHeads>
MLA_AVX512_BF16 void accumulate_heads(const uint16_t* const* rows,
                                      const uint16_t* const* upcoming,
                                      int count,
                                      int stride,
                                      const uint32_t* weight_pairs,
                                      const float* shrink,
                                      float* output) {
  alignas(64) static constexpr auto kInterleave = [] {
    struct {
      uint16_t low[32], high[32];
    } order{};
    for (int i = 0; i < 32; ++i) {
      order.low[i] = static_cast<uint16_t>(i / 2 + i % 2 * 32);
      order.high[i] = static_cast<uint16_t>(16 + order.low[i]);
    }
    return order;
  }();
  const __m512i low_order = _mm512_loadu_si512(kInterleave.low);
  const __m512i high_order = _mm512_loadu_si512(kInterleave.high);
  for (int column = 0; column < kValueDim; column += 2 * kLanes) {
    __m512 low[kHeads], high[kHeads];
    float* block = output + column;
#pragma GCC unroll 12
    for (int h = 0; h < kHeads; ++h) {
      const __m512 factor = _mm512_set1_ps(shrink[h]);
      low[h] = _mm512_mul_ps(_mm512_load_ps(block + h * kValueDim), factor);
      high[h] = _mm512_mul_ps(_mm512_load_ps(block + h * kValueDim + kLanes), factor);
    }
    for (int n = 0; n < count; n += 2) {
      const __m512i first = _mm512_loadu_si512(rows[n] + column);
      const __m512i second = _mm512_loadu_si512(rows[n + 1] + column);
      // The next columns of these rows: scattered rows are beyond a hardware prefetcher.
      prefetch(rows[n] + column + kLineElements);
      prefetch(rows[n + 1] + column + kLineElements);
      if (column % kColumnsPerLine == 0) {
        prefetch(upcoming[n] + value_line(column));
        prefetch(upcoming[n + 1] + value_line(column));
      }
      const auto value_low = (__m512bh)_mm512_permutex2var_epi16(first, low_order, second);
      const auto value_high = (__m512bh)_mm512_permutex2var_epi16(first, high_order, second);
      const uint32_t* pairs = weight_pairs + n / 2 * stride;
#pragma GCC unroll 12
      for (int h = 0; h < kHeads; ++h) {
        const auto weight = (__m512bh)_mm512_set1_epi32(static_cast<int>(pairs[h]));
        low[h] = _mm512_dpbf16_ps(low[h], weight, value_low);
        high[h] = _mm512_dpbf16_ps(high[h], weight, value_high);
      }
    }
#pragma GCC unroll 12
    for (int h = 0; h < kHeads; ++h) {
      _mm512_store_ps(block + h * kValueDim, low[h]);
      _mm512_store_ps(block + h * kValueDim + kLanes, high[h]);
    }
  }
}

// 12 heads fill the registers: 24 sums, in Q K^T of two rows and in P V of two vectors.
constexpr int kMostHeads = 12;
constexpr auto kScoreRowsOf =
    head_instances<kMostHeads>([]<int kHeads>() { return score_rows<kHeads>; });
constexpr auto kAccumulateHeadsOf =
    head_instances<kMostHeads>([]<int kHeads>() { return accumulate_heads<kHeads>; });

class Bf16Tile : public HostTile {
 public:
  using HostTile::HostTile;

  void load_queries(const RowGroup& group) {
    begin_group(group);
    for (int r = 0; r < group.rows; ++r) {
      std::copy_n(group.query(params_, r), kHeadDim, scratch_.bf16_queries + r * kHeadDim);
    }
  }

  void scores(int32_t slot, const KvBlock& block) {
    begin_scores(block);
    for_rows(kMostHeads, [&](int first, int heads, const uint16_t* const* upcoming) {
      for (int n = 0; n < padded_rows(); n += kScoreRows) {
        kScoreRowsOf[heads - 1](scratch_.bf16_queries + first * kHeadDim,
                                score_scale_,
                                scratch_.rows[slot] + n,
                                upcoming + n,
                                stride(),
                                scratch_.scores + n * stride() + first);
      }
    });
  }

  MLA_AVX512_BF16 Rows row_max() const {
    Rows result;
    for (int r = 0; r < stride(); r += kLanes) {
      __m512 max = _mm512_load_ps(scratch_.scores + r);
      for (int n = 1; n < padded_rows(); ++n) {
        max = _mm512_max_ps(max, _mm512_load_ps(scratch_.scores + n * stride() + r));
      }
      _mm512_storeu_ps(result.values + r, max);
    }
    return result;
  }

  MLA_AVX512_BF16 Rows exponentiate(const Rows& base) {
    Rows result;
    for (int r = 0; r < stride(); r += kLanes) {
      const __m512 b = _mm512_loadu_ps(base.values + r);
      __m512 sum = _mm512_setzero_ps();
      for (int n = 0; n < padded_rows(); n += 2) {
        const float* scores = scratch_.scores + n * stride() + r;
        const __m512 first = exp2_vector(_mm512_sub_ps(_mm512_load_ps(scores), b));
        const __m512 second = exp2_vector(_mm512_sub_ps(_mm512_load_ps(scores + stride()), b));
        sum = _mm512_add_ps(sum, _mm512_add_ps(first, second));
        const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(first));
        const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(second));
        _mm512_store_si512(scratch_.weight_pairs + n / 2 * stride() + r,
                           _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
      }
      _mm512_storeu_ps(result.values + r, sum);
    }
    return result;
  }

  void accumulate(int32_t slot, const Rows& shrink) {
    for_rows(kMostHeads, [&](int first, int heads, const uint16_t* const* upcoming) {
      kAccumulateHeadsOf[heads - 1](scratch_.rows[slot],
                                    upcoming,
                                    padded_rows(),
                                    stride(),
                                    scratch_.weight_pairs + first,
                                    shrink.values + first,
                                    scratch_.output + first * kValueDim);
    });
  }

  MLA_AVX512_BF16 Rows exp2(const Rows& rows) const {
    Rows result;
    for (int r = 0; r < stride(); r += kLanes) {
      _mm512_storeu_ps(result.values + r, exp2_vector(_mm512_loadu_ps(rows.values + r)));
    }
    return result;
  }
};

void run_stage1(const DecodeParams& params,
                const KernelConfig& config,
                const PipelineSchedule& schedule,
                CopyMode mode,
                const Stage1Item& item,
                Scratch* scratch) {
  Bf16Tile tile(scratch, params, mode);
  stage1(tile, params, config, schedule, item);
}

bool cpu_has_bf16() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bf16");
}

}  // namespace

const Kernels* bf16_kernels() {
  static const Kernels table = {"bf16", run_stage1};
  static const bool available = cpu_has_bf16();
  return available ? &table : nullptr;
}

}  // namespace mla::host

#else

namespace mla::host {

const Kernels* bf16_kernels() {
  return nullptr;
}

}  // namespace mla::host

#endif

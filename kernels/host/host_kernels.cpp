// SPDX-License-Identifier: MIT
// Tile operations over Highway, compiled once per instruction set and chosen at run time.
//
// Q K^T: a lane is a column, S[n][h] is the sum over the lanes of K[n] * Q[h], two cached rows and
// all heads of a chunk in registers. P V: a lane is a column too, O[h][columns] += P[n][h] *
// V[n][columns], all heads of a chunk in registers over the whole block.
#include "kernels/host/host_kernels.h"

#include <algorithm>

#include "kernels/bf16.h"

// Vectors of unknown size cannot be kept in the arrays below.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/host_kernels.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mla::host {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most the 16 rows that the softmax works on.
constexpr int kLanes = HWY_LANES(float) < kPanelRows ? HWY_LANES(float) : kPanelRows;
using F32 = hn::CappedTag<float, kLanes>;
using I32 = hn::RebindToSigned<F32>;
using Bf16 = hn::Rebind<hwy::bfloat16_t, F32>;
using Vector = hn::Vec<F32>;

// 32 vector registers hold the scores of 2 rows x 12 heads, or the output of 12 heads x 2 vectors;
// the narrower sets have 16.
constexpr bool kManyRegisters = HWY_MAX_BYTES >= 64 || HWY_ARCH_ARM;
constexpr int kScoreRows = 2;
constexpr int kMostScoreHeads = kManyRegisters ? 12 : 6;
constexpr int kMostOutputHeads = 12;
constexpr int kOutputVectors = kManyRegisters ? 2 : 1;

HWY_INLINE HWY_ATTR Vector load_wide(const uint16_t* bf16) {
  const Bf16 d;
  return hn::PromoteTo(F32(), hn::LoadU(d, reinterpret_cast<const hwy::bfloat16_t*>(bf16)));
}

// GCC folds a load into every multiply-add that uses it. Two multiply-adds a load would then be two
// loads, and the loads, two a cycle as the multiply-adds are, become what bounds the loop.
HWY_INLINE HWY_ATTR void keep_in_register([[maybe_unused]] Vector& vector) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  asm("" : "+v"(vector.raw));
#endif
}

// 2^x by x = n + f with |f| <= 1/2 and the Taylor series of 2^f to degree 6 (relative error 2e-7).
// Below 2^-126 the result is 0. NaN stays NaN.
HWY_INLINE HWY_ATTR Vector exp2_vector(Vector x) {
  const F32 d;
  const I32 di;
  const auto underflow = hn::Lt(x, hn::Set(d, -126.0f));
  const Vector n = hn::Round(x);
  const Vector f = hn::Sub(x, n);
  Vector y = hn::Set(d, 1.5403530e-4f);
  y = hn::MulAdd(y, f, hn::Set(d, 1.3333558e-3f));
  y = hn::MulAdd(y, f, hn::Set(d, 9.6181291e-3f));
  y = hn::MulAdd(y, f, hn::Set(d, 5.5504109e-2f));
  y = hn::MulAdd(y, f, hn::Set(d, 2.4022651e-1f));
  y = hn::MulAdd(y, f, hn::Set(d, 6.9314718e-1f));
  y = hn::MulAdd(y, f, hn::Set(d, 1.0f));
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));
  y = hn::Mul(y, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
  return hn::IfThenZeroElse(underflow, y);
}

// Lane i of the result is the sum of the lanes of v[i], for kLanes vectors: neighbours are added
// and packed until one vector is left.
template <int kCount>
HWY_INLINE HWY_ATTR Vector sum_lanes(const Vector* v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kCount > 1) {
    const F32 d;
    Vector half[kCount / 2];
    HWY_UNROLL(8)
    for (int i = 0; i < kCount / 2; ++i) {
      const Vector even = hn::ConcatEven(d, v[2 * i + 1], v[2 * i]);
      half[i] = hn::Add(even, hn::ConcatOdd(d, v[2 * i + 1], v[2 * i]));
    }
    return sum_lanes<kCount / 2>(half);
  }
#endif
  return v[0];
}

// Scores of kScoreRows cached rows against kHeads queries.
template <int kHeads>
HWY_NOINLINE HWY_ATTR void score_rows(const float* queries,
                                      float scale,
                                      const uint16_t* const* rows,
                                      const uint16_t* const* upcoming,
                                      int stride,
                                      float* scores) {
  const F32 d;
  Vector sum[kScoreRows][kHeads];
  for (int i = 0; i < kScoreRows; ++i) {
    HWY_UNROLL(12)
    for (int h = 0; h < kHeads; ++h) sum[i][h] = hn::Zero(d);
  }
  for (int line = 0; line < kHeadDim; line += kLineElements) {
    if (line < kScoreLines * kLineElements) {
      for (int i = 0; i < kScoreRows; ++i) hwy::Prefetch(upcoming[i] + line);
    }
    for (int c = line; c < line + kLineElements; c += kLanes) {
      Vector key[kScoreRows];
      for (int i = 0; i < kScoreRows; ++i) key[i] = load_wide(rows[i] + c);
      HWY_UNROLL(12)
      for (int h = 0; h < kHeads; ++h) {
        Vector query = hn::Load(d, queries + h * kHeadDim + c);
        keep_in_register(query);
        for (int i = 0; i < kScoreRows; ++i) sum[i][h] = hn::MulAdd(query, key[i], sum[i][h]);
      }
    }
  }
  HWY_UNROLL(2)
  for (int i = 0; i < kScoreRows; ++i) {
    HWY_UNROLL(12)
    for (int first = 0; first < kHeads; first += kLanes) {
      Vector in[kLanes];
      HWY_UNROLL(16)
      for (int l = 0; l < kLanes; ++l) in[l] = first + l < kHeads ? sum[i][first + l] : hn::Zero(d);
      HWY_ALIGN float totals[kLanes];
      hn::Store(hn::Mul(sum_lanes<kLanes>(in), hn::Set(d, scale)), d, totals);
      const int count = kHeads - first < kLanes ? kHeads - first : kLanes;
      std::copy_n(totals, count, scores + i * stride + first);
    }
  }
}

// O[h] = shrink[h] * O[h] + sum over n of P[n][h] * V[n] for kHeads heads.
template <int kHeads>
HWY_NOINLINE HWY_ATTR void accumulate_heads(const uint16_t* const* rows,
                                            const uint16_t* const* upcoming,
                                            int count,
                                            int stride,
                                            const float* weights,
                                            const float* shrink,
                                            float* output) {
  const F32 d;
  for (int column = 0; column < kValueDim; column += kOutputVectors * kLanes) {
    Vector sum[kHeads][kOutputVectors];
    HWY_UNROLL(16)
    for (int h = 0; h < kHeads; ++h) {
      for (int v = 0; v < kOutputVectors; ++v) {
        const Vector old = hn::Load(d, output + h * kValueDim + column + v * kLanes);
        sum[h][v] = hn::Mul(old, hn::Set(d, shrink[h]));
      }
    }
    for (int n = 0; n < count; ++n) {
      Vector value[kOutputVectors];
      for (int v = 0; v < kOutputVectors; ++v) value[v] = load_wide(rows[n] + column + v * kLanes);
      // The next columns of this row: scattered rows are beyond a hardware prefetcher.
      hwy::Prefetch(rows[n] + column + kOutputVectors * kLanes);
      if (column % kColumnsPerLine == 0) hwy::Prefetch(upcoming[n] + value_line(column));
      HWY_UNROLL(16)
      for (int h = 0; h < kHeads; ++h) {
        Vector weight = hn::Set(d, weights[n * stride + h]);
        keep_in_register(weight);
        for (int v = 0; v < kOutputVectors; ++v) {
          sum[h][v] = hn::MulAdd(weight, value[v], sum[h][v]);
        }
      }
    }
    HWY_UNROLL(16)
    for (int h = 0; h < kHeads; ++h) {
      for (int v = 0; v < kOutputVectors; ++v) {
        hn::Store(sum[h][v], d, output + h * kValueDim + column + v * kLanes);
      }
    }
  }
}

constexpr auto kScoreRowsOf =
    head_instances<kMostScoreHeads>([]<int kHeads>() { return score_rows<kHeads>; });
constexpr auto kAccumulateHeadsOf =
    head_instances<kMostOutputHeads>([]<int kHeads>() { return accumulate_heads<kHeads>; });

class HighwayTile : public HostTile {
 public:
  using HostTile::HostTile;

  void load_queries(const RowGroup& group) {
    begin_group(group);
    for (int r = 0; r < group.rows; ++r) {
      const uint16_t* query = group.query(params_, r);
      for (int c = 0; c < kHeadDim; ++c) {
        scratch_.queries[r * kHeadDim + c] = bf16_to_float(query[c]);
      }
    }
  }

  void scores(int32_t slot, const KvBlock& block) {
    begin_scores(block);
    for_rows(kMostScoreHeads, [&](int first, int heads, const uint16_t* const* upcoming) {
      for (int n = 0; n < padded_rows(); n += kScoreRows) {
        kScoreRowsOf[heads - 1](scratch_.queries + first * kHeadDim,
                                score_scale_,
                                scratch_.rows[slot] + n,
                                upcoming + n,
                                stride(),
                                scratch_.scores + n * stride() + first);
      }
    });
  }

  HWY_ATTR Rows row_max() const {
    const F32 d;
    Rows result;
    for (int v = 0; v < stride(); v += kLanes) {
      Vector max = hn::Load(d, scratch_.scores + v);
      for (int n = 1; n < padded_rows(); ++n) {
        max = hn::Max(max, hn::Load(d, scratch_.scores + n * stride() + v));
      }
      hn::StoreU(max, d, result.values + v);
    }
    return result;
  }

  HWY_ATTR Rows exponentiate(const Rows& base) {
    const F32 d;
    Rows result;
    for (int v = 0; v < stride(); v += kLanes) {
      const Vector b = hn::LoadU(d, base.values + v);
      Vector sum = hn::Zero(d);
      for (int n = 0; n < padded_rows(); ++n) {
        float* score = scratch_.scores + n * stride() + v;
        const Vector weight = exp2_vector(hn::Sub(hn::Load(d, score), b));
        hn::Store(weight, d, score);
        sum = hn::Add(sum, weight);
      }
      hn::StoreU(sum, d, result.values + v);
    }
    return result;
  }

  void accumulate(int32_t slot, const Rows& shrink) {
    for_rows(kMostOutputHeads, [&](int first, int heads, const uint16_t* const* upcoming) {
      kAccumulateHeadsOf[heads - 1](scratch_.rows[slot],
                                    upcoming,
                                    padded_rows(),
                                    stride(),
                                    scratch_.scores + first,
                                    shrink.values + first,
                                    scratch_.output + first * kValueDim);
    });
  }

  HWY_ATTR Rows exp2(const Rows& rows) const {
    const F32 d;
    Rows result;
    for (int v = 0; v < stride(); v += kLanes) {
      hn::StoreU(exp2_vector(hn::LoadU(d, rows.values + v)), d, result.values + v);
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
  HighwayTile tile(scratch, params, mode);
  stage1(tile, params, config, schedule, item);
}

Kernels kernels() {
  return {"highway", run_stage1};
}

}  // namespace HWY_NAMESPACE
}  // namespace mla::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mla::host {

HWY_EXPORT(kernels);

const Kernels& highway_kernels() {
  static const Kernels table = HWY_DYNAMIC_DISPATCH(kernels)();
  return table;
}

}  // namespace mla::host
#endif

// SPDX-License-Identifier: MIT
#include "kernels/host/probe_kernels.h"

#include "kernels/host/host_kernels.h"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/host/probe_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mla::host {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 12 chains hide a latency of 6 cycles at two operations a cycle, and fit 16 registers.
constexpr int kChains = 12;

HWY_ATTR double fma_rounds(int64_t rounds) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sum[kChains];
  HWY_UNROLL(12)
  for (int i = 0; i < kChains; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
  // Values that the compiler cannot know, and a fixed point that no sum overflows from.
  volatile float one = 1.0f;
  volatile float tiny = 1e-30f;
  const auto a = hn::Set(d, one);
  const auto b = hn::Set(d, tiny);
  for (int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(12)
    for (int i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(sum[i], a, b);
  }
  float total = 0;
  for (int i = 0; i < kChains; ++i) total += hn::GetLane(sum[i]);
  volatile float keep = total;
  static_cast<void>(keep);
  return 2.0 * static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

HWY_ATTR uint64_t read_all(const uint64_t* data, int64_t count) {
  const hn::ScalableTag<uint64_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum0 = hn::Add(sum0, hn::LoadU(d, data + i));
    sum1 = hn::Add(sum1, hn::LoadU(d, data + i + lanes));
  }
  uint64_t total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < count; ++i) total += data[i];
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace mla::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace mla::host {

HWY_EXPORT(fma_rounds);
HWY_EXPORT(read_all);

double fma_loop(int64_t rounds) {
  return HWY_DYNAMIC_DISPATCH(fma_rounds)(rounds);
}

uint64_t read_loop(const uint64_t* data, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(read_all)(data, count);
}

#if defined(__x86_64__) && defined(__GNUC__)
namespace {

__attribute__((target("avx512f,avx512bf16"))) double dot_rounds(int64_t rounds) {
  constexpr int kChains = 24;
  __m512 sum[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));  // not alike
  volatile int ones = 0x3F803F80;  // a pair of 1.0
  const auto a = (__m512bh)_mm512_set1_epi32(ones);
  const auto b = (__m512bh)_mm512_set1_epi32(ones);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) sum[i] = _mm512_dpbf16_ps(sum[i], a, b);
  }
  __m512 total = sum[0];
  for (int i = 1; i < kChains; ++i) total = _mm512_add_ps(total, sum[i]);
  volatile float keep = _mm512_cvtss_f32(total);
  static_cast<void>(keep);
  return 64.0 * static_cast<double>(rounds) * kChains;
}

}  // namespace

double bf16_dot_loop(int64_t rounds) {
  return bf16_kernels() == nullptr ? 0.0 : dot_rounds(rounds);
}
#else
double bf16_dot_loop(int64_t) {
  return 0.0;
}
#endif

}  // namespace mla::host
#endif

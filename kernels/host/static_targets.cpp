// SPDX-License-Identifier: MIT
// The run-time dispatch of Highway for builds that cannot link its library (MLA_STATIC): the two
// functions that HWY_DYNAMIC_DISPATCH calls. A target is offered where the CPU has every
// instruction set that Highway compiles it for (hwy/ops/set_macros-inl.h).
#include "hwy/targets.h"

namespace hwy {
namespace {

#if HWY_ARCH_X86

bool has_ssse3() {
  return __builtin_cpu_supports("ssse3");
}

bool has_sse4() {
  return has_ssse3() && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
         __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
}

bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

bool has_avx3() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

bool has_avx3_dl() {
  return has_avx3() && __builtin_cpu_supports("vpclmulqdq") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("vaes") && __builtin_cpu_supports("avxvnni") &&
         __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
}

int64_t cpu_targets() {
  return (has_avx3_dl() ? HWY_AVX3_DL : 0) | (has_avx3() ? HWY_AVX3 : 0) |
         (has_avx2() ? HWY_AVX2 : 0) | (has_sse4() ? HWY_SSE4 : 0) | (has_ssse3() ? HWY_SSSE3 : 0);
}

#else  // what this file is compiled for

int64_t cpu_targets() {
  return 0;
}

#endif

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = cpu_targets() | HWY_STATIC_TARGET;
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy

// SPDX-License-Identifier: MIT
// Three kernels a function: its value at constant arguments, per lane, and per workgroup in scalar
// registers.
#include "tests/amdgcn/device.cuh"
#include "tests/amdgcn/fold_functions.h"

namespace fold {

template <class T>
MLA_DEVICE constexpr T least(T a, T b) {
  return a < b ? a : b;
}
template <class T>
MLA_DEVICE constexpr T greatest(T a, T b) {
  return a > b ? a : b;
}
MLA_DEVICE inline U32 bits_of(float value) {
  return __builtin_bit_cast(U32, value);
}
MLA_DEVICE inline U32 bf16_of(float value) {
  return __builtin_bit_cast(unsigned short, static_cast<__bf16>(value));
}

#define MLA_FOLD(name, Result, Argument, value, vector_mnemonics, scalar_mnemonics)  \
  MLA_DEVICE inline Result name(Argument a, Argument b, Argument c) {                \
    return value;                                                                    \
  }                                                                                  \
  MLA_GLOBAL void name##_folded(Result* out) {                                       \
    _Pragma("unroll") for (int i = 0; i < kCount; ++i) {                             \
      out[i] = name(argument<Argument>(i),                                           \
                    argument<Argument>(kSecond * i + 1),                             \
                    argument<Argument>(kThird * i + 3));                             \
    }                                                                                \
  }                                                                                  \
  MLA_GLOBAL MLA_WORKGROUP(64) void name##_vector(const Argument* in, Result* out) { \
    const unsigned i = test_device::item();                                          \
    if (i < kCount) out[i] = name(in[3 * i], in[3 * i + 1], in[3 * i + 2]);          \
  }                                                                                  \
  MLA_GLOBAL MLA_WORKGROUP(64) void name##_scalar(const Argument* in, Result* out) { \
    const unsigned i = test_device::workgroup();                                     \
    out[i] = name(in[3 * i], in[3 * i + 1], in[3 * i + 2]);                          \
  }
#include "tests/amdgcn/fold_list.inc"
#undef MLA_FOLD

}  // namespace fold

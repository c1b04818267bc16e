// SPDX-License-Identifier: MIT
// Functions whose values clang can compute itself: the device code holds each once with constant
// arguments, which the compiler folds, and once with loaded ones, which the emulator has to
// execute. Read by the device code and by the test; MLA_FOLD(name, result type, argument type,
// value of a, b and c, instructions that it is there to test).
//
// No includes: the device code has no standard library.
#pragma once

namespace fold {

using U32 = unsigned;
using I32 = int;
using U64 = unsigned long;
using I64 = long;

constexpr int kCount = 24;  // argument triples: (i, 5 i + 1, 7 i + 3) modulo kCount

constexpr U32 kU32[kCount] = {
    0,          1,          2,          3,          31,         32,         33,         0x7F,
    0x80,       0xFF,       0x100,      0xFFFF,     0x10000,    0xFFFFFF,   0x1000000,  0x7FFFFFFF,
    0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0x12345678, 0x9ABCDEF0, 0x0F1E2D3C, 0xDEADBEEF};
constexpr float kFloat[kCount] = {
    0.0f,  -0.0f, 1.0f,  -1.0f,  0.5f,   -0.5f,  1.5f,    2.5f,  -2.5f, 3.75f, 255.0f,   65536.5f,
    1e-3f, -7e4f, 1e20f, -1e20f, 1e-30f, 1e-40f, -3e-42f, 3e38f, 0.1f,  -0.3f, 123.456f, -99.99f};

// Arguments of each type from the same bits.
template <class T>
constexpr T argument(int i) {
  const int index = i % kCount;
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(static_cast<U64>(kU32[index]) << 32 | kU32[(index + 11) % kCount]);
  } else {
    return static_cast<T>(kU32[index]);
  }
}
template <>
constexpr float argument<float>(int i) {
  return kFloat[i % kCount];
}

constexpr int kSecond = 5;  // the second argument's index is 5 i + 1
constexpr int kThird = 7;   // the third's 7 i + 3

}  // namespace fold

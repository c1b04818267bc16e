// SPDX-License-Identifier: MIT
// From a function of SCC and scalar sources to an instruction: scalar([](bool& scc, uint32_t a,
// uint32_t b) { ... }).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/error.h"
#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {

template <class T>
T read_scalar(const Wave& wave, const Op& op, size_t operand) {
  const Source& source = op.operands[operand];
  if (source.file == File::kConstant) return static_cast<T>(source.bits);
  if (source.file != File::kScalar) {
    throw Error(ErrorCode::kDevice, "a scalar operand that is neither a register nor a constant");
  }
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(wave.scalar64(source.index));
  } else {
    return static_cast<T>(wave.scalars[source.index]);
  }
}

template <class T>
void write_scalar(Wave& wave, const Op& op, T value) {
  const Source& target = op.operands[0];
  if constexpr (sizeof(T) == 8) {
    wave.set_scalar64(target.index, static_cast<uint64_t>(value));
  } else {
    wave.scalars[target.index] = static_cast<uint32_t>(value);
  }
}

template <class F, class R, class... A>
struct ScalarOp {
  template <size_t kFirst, size_t... kIndex>
  static void run(Wave& wave, const Op& op, std::index_sequence<kIndex...>) {
    bool scc = wave.scc;
    if constexpr (std::is_void_v<R>) {
      F{}(scc, read_scalar<A>(wave, op, kFirst + kIndex)...);
    } else {
      write_scalar(wave, op, F{}(scc, read_scalar<A>(wave, op, kFirst + kIndex)...));
    }
    wave.scc = scc;
  }
  static void execute(Wave& wave, const Op& op) {
    run<std::is_void_v<R> ? 0 : 1>(wave, op, std::index_sequence_for<A...>());
  }
  static void accumulate(Wave& wave, const Op& op) {
    run<0>(wave, op, std::index_sequence_for<A...>());
  }
};

template <class F, class R, class... A>
ScalarOp<F, R, A...> scalar_op(R (F::*)(bool&, A...) const);

// A function of SCC, which it may change, and the sources.
template <class F>
OpInfo scalar(F) {
  return {decltype(scalar_op(&F::operator()))::execute, Family::kScalar, {}};
}

// SOPK: the destination is the first source.
template <class F>
OpInfo scalar_in_place(F) {
  return {decltype(scalar_op(&F::operator()))::accumulate, Family::kScalar, {}};
}

// The 16 bits of an immediate.
template <class T>
T extended(T immediate) {
  return std::is_signed_v<T> ? static_cast<T>(static_cast<int16_t>(immediate))
                             : static_cast<T>(immediate & 0xFFFF);
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
// From a function of one lane to an instruction: lanes([](float a, float b) { return a + b; })
// reads its arguments from the sources, runs for 64 lanes and writes the result under the exec
// mask.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tests/amdgcn/op.h"
#include "tests/amdgcn/wave.h"

namespace mla::amdgcn {

enum class LaneType : uint8_t { kBits, kFloat };

// 64 values of an operand, where it is a register without modifiers the register itself, else in
// the buffer.
const uint32_t* read_lanes(
    const Wave& wave, const Op& op, size_t operand, LaneType type, uint32_t* buffer);
const uint64_t* read_lanes64(const Wave& wave, const Op& op, size_t operand, uint64_t* buffer);
// The lanes that the instruction writes.
uint64_t written_lanes(const Wave& wave, const Op& op);
void write_lanes(Wave& wave, const Op& op, size_t operand, const uint32_t* values);
void write_lanes64(Wave& wave, const Op& op, size_t operand, const uint64_t* values);
// A mask of lanes in a scalar pair; inactive lanes are 0.
uint64_t read_mask(const Wave& wave, const Op& op, size_t operand);
void write_mask(Wave& wave, const Op& op, size_t operand, uint64_t mask);

template <class T>
class LaneValues {
 public:
  LaneValues(const Wave& wave, const Op& op, size_t operand) {
    constexpr LaneType kType = std::is_same_v<T, float> ? LaneType::kFloat : LaneType::kBits;
    if constexpr (sizeof(T) == 8) {
      values_ = read_lanes64(wave, op, operand, buffer_);
    } else {
      values_ = read_lanes(wave, op, operand, kType, buffer_);
    }
  }
  LaneValues(const LaneValues&) = delete;
  LaneValues& operator=(const LaneValues&) = delete;
  T operator[](int lane) const { return std::bit_cast<T>(values_[lane]); }

 private:
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const Bits* values_;
  alignas(64) Bits buffer_[kLanes];
};

template <>
class LaneValues<bool> {
 public:
  LaneValues(const Wave& wave, const Op& op, size_t operand)
      : mask_(read_mask(wave, op, operand)) {}
  bool operator[](int lane) const { return (mask_ >> lane & 1) != 0; }

 private:
  uint64_t mask_;
};

// Result of an instruction that also writes a mask, such as the carry of v_add_co_u32.
template <class T>
struct WithMask {
  T value;
  bool flag;
};

template <class R>
struct LaneResult {
  using Bits = std::conditional_t<sizeof(R) == 8, uint64_t, uint32_t>;
  static constexpr size_t kOutputs = 1;
  alignas(64) Bits values[kLanes];
  void set(int lane, R result) { values[lane] = std::bit_cast<Bits>(result); }
  void write(Wave& wave, const Op& op) const {
    if constexpr (sizeof(R) == 8) {
      write_lanes64(wave, op, 0, values);
    } else {
      write_lanes(wave, op, 0, values);
    }
  }
};

template <>
struct LaneResult<bool> {
  static constexpr size_t kOutputs = 1;
  alignas(64) uint8_t flags[kLanes];
  void set(int lane, bool result) { flags[lane] = result ? 1 : 0; }
  void write(Wave& wave, const Op& op) const { write_mask(wave, op, 0, mask()); }
  uint64_t mask() const {
    uint64_t mask = 0;
    for (int lane = 0; lane < kLanes; ++lane) mask |= static_cast<uint64_t>(flags[lane]) << lane;
    return mask;
  }
};

template <class T>
struct LaneResult<WithMask<T>> {
  static constexpr size_t kOutputs = 2;
  LaneResult<T> value;
  LaneResult<bool> flag;
  void set(int lane, WithMask<T> result) {
    value.set(lane, result.value);
    flag.set(lane, result.flag);
  }
  void write(Wave& wave, const Op& op) const {
    value.write(wave, op);
    write_mask(wave, op, 1, flag.mask());
  }
};

template <class F, class R, class... A>
struct LaneOp {
  template <size_t kFirst, size_t... kIndex>
  static void run(Wave& wave, const Op& op, std::index_sequence<kIndex...>) {
    LaneResult<R> result;
    const auto compute = [&](const LaneValues<A>&... source) {
      for (int lane = 0; lane < kLanes; ++lane) result.set(lane, F{}(source[lane]...));
    };
    compute(LaneValues<A>(wave, op, kFirst + kIndex)...);
    result.write(wave, op);
  }
  static void execute(Wave& wave, const Op& op) {
    run<LaneResult<R>::kOutputs>(wave, op, std::index_sequence_for<A...>());
  }
  // The destination is the first source as well.
  static void accumulate(Wave& wave, const Op& op) {
    run<0>(wave, op, std::index_sequence_for<A...>());
  }
};

template <class F, class R, class... A>
LaneOp<F, R, A...> lane_op(R (F::*)(A...) const);

template <class F>
OpInfo lanes(F) {
  return {decltype(lane_op(&F::operator()))::execute, Family::kVector, {}};
}

template <class F>
OpInfo accumulating_lanes(F) {
  return {decltype(lane_op(&F::operator()))::accumulate, Family::kVector, {}};
}

}  // namespace mla::amdgcn

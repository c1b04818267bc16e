// SPDX-License-Identifier: MIT
#include "tuner/noise.h"

#include <cmath>
#include <numbers>

#include "kernels/workload.h"

namespace mla::tuner {
namespace {

uint64_t combine(uint64_t state, uint64_t value) {
  return mix64(state ^ mix64(value));
}

}  // namespace

// The fields themselves are hashed, since std::hash may differ between standard libraries.
SampleNoise::SampleNoise(uint64_t seed,
                         const Problem& problem,
                         const KernelConfig& config,
                         const SampleId& id)
    : state_(mix64(seed)) {
  for (const int64_t field : {int64_t{problem.batch},
                              int64_t{problem.nhead},
                              problem.seq_len,
                              int64_t{problem.q_len},
                              static_cast<int64_t>(problem.kv_dtype),
                              int64_t{problem.page_size},
                              problem.shared_prefix,
                              int64_t{problem.share_group},
                              int64_t{problem.imbalance},
                              static_cast<int64_t>(problem.pool)})
    state_ = combine(state_, static_cast<uint64_t>(field));
  for (const Knob knob : kKnobs) state_ = combine(state_, static_cast<uint64_t>(get(config, knob)));
  for (const int32_t field : {static_cast<int32_t>(id.phase), id.rung, id.round, id.position})
    state_ = combine(state_, static_cast<uint64_t>(field));
}

uint64_t SampleNoise::next() {
  return state_ = mix64(state_);
}

double SampleNoise::uniform() {
  // 53 bits, shifted by half a step so that neither end is reached.
  return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53;
}

// Box-Muller, one of the pair.
double SampleNoise::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

uint64_t SampleNoise::index(uint64_t count) {
  return next() % count;
}

}  // namespace mla::tuner

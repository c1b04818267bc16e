// SPDX-License-Identifier: MIT
// Between lanes: read and write of single lanes, counting below a lane, row swaps (gfx950).
#include <bit>
#include <utility>

#include "kernels/error.h"
#include "tests/amdgcn/lanes.h"

namespace mla::amdgcn {
namespace {

uint32_t scalar_value(const Wave& wave, const Source& source) {
  return source.file == File::kScalar ? wave.scalars[source.index]
                                      : static_cast<uint32_t>(source.bits);
}

// Of the lowest active lane; of lane 0 if none is active.
void read_first_lane(Wave& wave, const Op& op) {
  const int lane = wave.exec() == 0 ? 0 : std::countr_zero(wave.exec());
  const Source& source = op.operands[1];
  wave.scalars[op.operands[0].index] =
      source.file == File::kVector ? wave.vectors[source.index][lane] : scalar_value(wave, source);
}

void read_lane(Wave& wave, const Op& op) {
  const uint32_t lane = scalar_value(wave, op.operands[2]) & 63;
  wave.scalars[op.operands[0].index] = wave.vectors[op.operands[1].index][lane];
}

// Ignores the exec mask.
void write_lane(Wave& wave, const Op& op) {
  const uint32_t lane = scalar_value(wave, op.operands[2]) & 63;
  wave.vectors[op.operands[0].index][lane] = scalar_value(wave, op.operands[1]);
}

// Bits of the mask below the lane, in the lower or the upper 32 lanes, plus the second source.
template <bool kHigh>
void count_below(Wave& wave, const Op& op) {
  const LaneValues<uint32_t> mask(wave, op, 1);
  const LaneValues<uint32_t> addend(wave, op, 2);
  LaneResult<uint32_t> result;
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t below = (uint64_t{1} << lane) - 1;
    const auto half = static_cast<uint32_t>(kHigh ? below >> 32 : below);
    result.set(lane, static_cast<uint32_t>(std::popcount(mask[lane] & half)) + addend[lane]);
  }
  result.write(wave, op);
}

// V_PERMLANE32_SWAP: rows 2, 3 of the first register with rows 0, 1 of the second (a row is 16
// lanes); V_PERMLANE16_SWAP: odd rows of the first with even rows of the second.
template <int kDistance>
void swap_rows(Wave& wave, const Op& op) {
  if (wave.exec() != ~uint64_t{0})
    throw Error(ErrorCode::kDevice, "a row swap with inactive lanes");
  Lanes& first = wave.vectors[op.operands[0].index];
  Lanes& second = wave.vectors[op.operands[1].index];
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lane & kDistance) != 0) std::swap(first[lane], second[lane - kDistance]);
  }
}

void swap_registers(Wave& wave, const Op& op) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((wave.exec() >> lane & 1) == 0) continue;
    std::swap(wave.vectors[op.operands[0].index][lane], wave.vectors[op.operands[1].index][lane]);
  }
}

}  // namespace

void add_lane_ops(OpTable* table) {
  (*table)["v_readfirstlane_b32"] = {read_first_lane, Family::kVector, {}};
  (*table)["v_readlane_b32"] = {read_lane, Family::kVector, {}};
  (*table)["v_writelane_b32"] = {write_lane, Family::kVector, {}};
  (*table)["v_mbcnt_lo_u32_b32"] = {count_below<false>, Family::kVector, {}};
  (*table)["v_mbcnt_hi_u32_b32"] = {count_below<true>, Family::kVector, {}};
  (*table)["v_permlane32_swap_b32"] = {swap_rows<32>, Family::kVector, {}};
  (*table)["v_permlane16_swap_b32"] = {swap_rows<16>, Family::kVector, {}};
  (*table)["v_swap_b32"] = {swap_registers, Family::kVector, {}};
}

}  // namespace mla::amdgcn
